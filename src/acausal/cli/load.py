"""From what the user types (`plant.py:House(rooms=3)`) to a component.

MODEL.py                 the file's only model (see `chosen`)
MODEL.py:Class           a class, a function that gives a component, or a component itself
MODEL.py:Class(n=100)    with arguments, which are literals: nothing typed on the command line is ever executed
package.module:Class     a module that Python finds
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial, update_wrapper
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..errors import Diagnostic, Location, ModelError, near_matches
from ..language.component import Component
from ..language.connector import Connector
from ..language.declarations import Declaration
from .exits import Exit
from .guard import Stop
from .target import Target, no_such_file, parse

_OURS = str(Path(__file__).resolve().parents[1])
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


# ---------------------------------------------------------------- importing


def load_component(text: str) -> Component:
    """The component that the command line names, or an error that says what is wrong and where."""
    target = parse(text)
    with redirect_stdout(sys.stderr):  # what a model file prints must not get into what a program reads from us
        return _made(_found(target), target)


def load_with_choices(text: str, changes: Mapping[str, Any]) -> tuple[Component, dict[str, Any]]:
    """The component with other arguments than the command line names, and all plain arguments as they are now, defaults too."""
    target = parse(text)
    with redirect_stdout(sys.stderr):
        found = _found(target)
        if isinstance(found, Component) or not callable(found):
            return _made(found, target), {}
        parameters = [p for p in _parameters(found) if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        placed = dict(zip([p.name for p in parameters], target.args, strict=False))
        chosen_values = {**placed, **target.kwargs, **changes}
        made = _made(found, replace(target, args=(), kwargs=chosen_values) if changes else target)
    values = {p.name: chosen_values.get(p.name, p.default) for p in parameters}
    return made, {name: v for name, v in values.items() if isinstance(v, (bool, int, float, str)) or v is None}


def load_maker(text: str) -> Any:
    """The class or function that makes the component, with the arguments that the command line gives it; None: it stands there."""
    target = parse(text)
    with redirect_stdout(sys.stderr):
        found = _found(target)
    if isinstance(found, Component) or not callable(found):
        return None
    if not target.called:
        return found
    args, kwargs = _by_name(found, target)
    return update_wrapper(partial(found, *args, **kwargs), found, updated=())


def _by_name(found: Any, target: Target) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by their names, where they have names: then cases can give others."""
    taken = list(inspect.signature(found).parameters.values())[: len(target.args)]
    if len(taken) < len(target.args) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in taken):
        return tuple(target.args), dict(target.kwargs)
    return (), {**dict(zip((p.name for p in taken), target.args, strict=True)), **target.kwargs}


def load_class(text: str) -> type[Component]:
    """The component class that the command line names, without making a component of it."""
    target = parse(text)
    with redirect_stdout(sys.stderr):
        found = _found(target)
    if not (isinstance(found, type) and issubclass(found, Component)):
        raise Stop(Exit.USAGE, Diagnostic(f"`{text}` is not a component class.", remedy="name one: `plant.py:Compressor`"))
    return found


def _found(target: Target) -> Any:
    module = _import_file(target) if target.file else _import_module(target)
    found = getattr(module, target.name, None) if target.name else chosen(module, target)
    if found is None:
        raise Stop(Exit.USAGE, _no_such_class(module, target))
    return found


def module_of(text: str) -> ModuleType | None:
    """The module that the command line named, once it is loaded: the plant may be one that it imports."""
    target = parse(text)
    if not target.file:
        return sys.modules.get(target.module)
    file = str(Path(target.file).resolve())
    return next((m for m in reversed(list(sys.modules.values())) if getattr(m, "__file__", None) == file), None)


def wishes_of(text: str, component: Component) -> dict[str, Any]:
    """What `__studio__` says in the file that was named, or where its plant is defined."""
    places = (module_of(text), sys.modules.get(type(component).__module__))
    return next((dict(found) for place in places if (found := getattr(place, "__studio__", None)) is not None), {})


class _AsItIs(SourceFileLoader):
    """Compiles the file that is there: Python takes its cache for it where one of the same length was saved in the same second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _import_file(target: Target) -> ModuleType:
    path = Path(target.file)
    if not path.is_file():
        raise Stop(Exit.USAGE, no_such_file(path))
    sys.path.insert(0, str(path.resolve().parent))  # so that it finds its neighbours, as `python file.py` does
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"acausal_model_{abs(hash(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path.resolve(), loader=_AsItIs(name, str(path.resolve())))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # what it defines can then be pickled and inspected
    with _import_errors(str(path)):
        spec.loader.exec_module(module)
    return module


def _import_module(target: Target) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    with _import_errors(target.module):
        try:
            return importlib.import_module(target.module)
        except ModuleNotFoundError as error:
            if not f"{target.module}.".startswith(f"{error.name}."):  # it exists, but imports something that does not
                raise
            remedy = (
                f"did you mean the file `{target.module}.py`?"
                if Path(f"{target.module}.py").is_file()
                else "a file's name ends in `.py`"
            )
            raise Stop(Exit.USAGE, Diagnostic(f"There is no module `{target.module}`.", remedy=remedy)) from error


@contextmanager
def _import_errors(source: str) -> Iterator[None]:
    """Whatever a model file does wrong while it is imported, told with its line."""
    try:
        yield
    except Stop:
        raise
    except SyntaxError as error:
        where = Location(error.filename or source, error.lineno or 1)
        what = f"`{source}` is not valid Python: {error.msg}."
        remedy = "mend this line; if it looks right, a bracket or a quote is left open in a line above it"
        line = _line((error.text or "").strip())
        raise Stop(Exit.MODEL, Diagnostic(what, location=where, details=line, remedy=remedy)) from error
    except ModelError as error:
        raise Stop(Exit.MODEL, *_placed(error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit: a model file may not end the program that reads it
        raise Stop(Exit.MODEL, _stopped(source, "does not import", error)) from error


def _stopped(source: str, what: str, error: BaseException) -> Diagnostic:
    where = place_of(error)
    remedies = {
        ModuleNotFoundError: f"install `{getattr(error, 'name', '')}` in this environment, or mend the import",
        SystemExit: 'keep what a script does below `if __name__ == "__main__":`',
    }
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    remedy = next((text for kind, text in remedies.items() if isinstance(error, kind)), "")
    return Diagnostic(f"`{source}` {what}: {said}", location=where, details=_line(where.source if where else ""), remedy=remedy)


def _line(text: str) -> tuple[str, ...]:
    return (f"line:      {text}",) if text else ()


def _placed(error: ModelError) -> list[Diagnostic]:
    """The diagnostics with the user's line, where they have none."""
    where = place_of(error)
    return [
        d if d.location or where is None else replace(d, location=where, details=(*d.details, *_line(where.source)))
        for d in error.diagnostics
    ]


# ---------------------------------------------------------------- choosing and making


def models_of(module: ModuleType) -> dict[str, Any]:
    """Component classes that the module itself defines; else components that it made; else plants that it imports by name."""
    classes = {n: v for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Component)}
    own = {n: v for n, v in classes.items() if v.__module__ == module.__name__}
    if own or _plain_classes(module):
        return own
    made = {n: v for n, v in vars(module).items() if isinstance(v, Component)}
    return made or {n: v for n, v in classes.items() if v is not Component and not _has_connectors(v)}


def chosen(module: ModuleType, target: Target) -> Any:
    """Which model is meant when none is named: the one marked by `__model__`, the only one, or the only one that is whole.

    A class is not whole if others inherit from it, or if it has connectors: it is then a part of something.
    """
    marked = getattr(module, "__model__", None)
    if marked is not None:
        return getattr(module, marked, None) if isinstance(marked, str) else marked
    found = models_of(module)
    if len(found) > 1:
        parents = {base for value in found.values() if isinstance(value, type) for base in value.__mro__[1:]}
        whole = {n: v for n, v in found.items() if v not in parents and not _has_connectors(v)}
        found = whole or found
    if len(found) == 1:
        return next(iter(found.values()))
    raise Stop(Exit.USAGE, _which(module, target, found))


def _has_connectors(value: Any) -> bool:
    return any(isinstance(d, Connector) for d in value._class_declared.values())


def _plain_classes(module: ModuleType) -> list[str]:
    """Classes that declare quantities and forgot what they are."""
    classes = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    plain = [c for c in classes if not issubclass(c, (Component, Connector))]
    return [c.__name__ for c in plain if any(isinstance(v, (Declaration, Connector)) for v in vars(c).values())]


def _which(module: ModuleType, target: Target, found: dict[str, Any]) -> Diagnostic:
    if not found:
        what, remedy = f"`{target.source}` defines no component class.", "a model is a class that inherits from `ac.Component`"
        for name in _plain_classes(module):
            what = f"`{target.source}` defines no component class: `{name}` declares quantities, but is an ordinary class."
            remedy = f"write `class {name}(ac.Component):`"
        return Diagnostic(what, remedy=remedy)
    details = tuple(f"  {target.source}:{_signature(name, value)}{_summary(value)}" for name, value in found.items())
    remedy = f'name one of them, or mark one in the file: `__model__ = "{next(iter(found))}"`'
    return Diagnostic(f"`{target.source}` has {len(found)} models; which one is meant?", details=details, remedy=remedy)


def _signature(name: str, value: Any) -> str:
    """The name with what must be given."""
    if not callable(value):
        return name
    needed = [p.name for p in _parameters(value) if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return f"{name}({', '.join(f'{n}=…' for n in needed)})" if needed else name


def _parameters(value: Any) -> list[inspect.Parameter]:
    if not isinstance(value, type):
        return list(inspect.signature(value).parameters.values())
    return list(inspect.signature(value.__init__).parameters.values())[1:]  # type: ignore[misc]


def _summary(value: Any) -> str:
    own = vars(value).get("__doc__") if isinstance(value, type) else getattr(value, "__doc__", None)
    text = (own or "").strip().split("\n")[0]
    return f"   {text}" if text else ""


def _no_such_class(module: ModuleType, target: Target) -> Diagnostic:
    name = target.name or str(getattr(module, "__model__", ""))
    names = list(models_of(module))
    what = f"`{target.source}` has no `{name}`. {near_matches(name, names)}".rstrip()
    return Diagnostic(what, details=(f"it has:    {', '.join(names[:20])}",) if names else ())


def _made(found: Any, target: Target) -> Component:
    """The component: as it stands, or made by the class or function."""
    if isinstance(found, Component):
        if target.called:
            raise Stop(Exit.USAGE, Diagnostic(f"`{target.name}` is a component already and takes no arguments."))
        return found
    if not callable(found):
        raise Stop(
            Exit.USAGE,
            Diagnostic(f"`{target.name}` in `{target.source}` is {found!r} of type {type(found).__name__}, not a component."),
        )
    _check_arguments(found, target)
    try:
        component = found(*target.args, **target.kwargs)
    except ModelError as error:
        raise Stop(Exit.USAGE if innermost_is_ours(error) and target.called else Exit.MODEL, *_placed(error)) from error
    except Exception as error:
        raise Stop(Exit.MODEL, _stopped(target.text, "cannot be made", error)) from error
    if not isinstance(component, Component):
        raise Stop(
            Exit.USAGE, Diagnostic(f"`{target.text}` gives {component!r} of type {type(component).__name__}, not a component.")
        )
    return component


def _check_arguments(found: Any, target: Target) -> None:
    """Arguments that `__init__` needs and that were not given, told in the words of the command line."""
    name = getattr(found, "__name__", target.name)
    parameters = _parameters(found)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = {p.name for p in positional[: len(target.args)]} | set(target.kwargs)
    missing = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in given
    ]
    if missing:
        example = f"{target.source}:{name}({', '.join(f'{n}=…' for n in missing)})"
        raise Stop(Exit.USAGE, Diagnostic(f"{name} needs {' and '.join(f'`{n}`' for n in missing)}.", remedy=f'"{example}"'))


# ---------------------------------------------------------------- whose line it was


def place_of(error: BaseException) -> Location | None:
    """The innermost line of the user's own code that an error passed through; of any code if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not _is_ours(f.filename) and not f.filename.startswith((*_LIBRARIES, "<frozen"))]
    found = own or frames
    return Location(found[-1].filename, found[-1].lineno or 0) if found else None


def innermost_is_ours(error: BaseException) -> bool:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((*_LIBRARIES, "<frozen"))]
    return not frames or _is_ours(frames[-1].filename)


def _is_ours(filename: str) -> bool:
    return filename.startswith(_OURS)
