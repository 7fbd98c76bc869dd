"""Pages that mkdocs makes from the program itself: the reference, the component catalogue, examples and notebooks."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import acausal as ac
from acausal.language.connector import Connector
from acausal.language.declarations import Declaration
from acausal.language.helptext import _bounds, _equations, _number
from acausal.library.icons import svg

ROOT = Path(__file__).resolve().parents[1]


def reference() -> str:
    """Every public name with its signature and docstring."""
    parts = ["# Functions and classes", "`import acausal as ac`, and then:"]
    for name in sorted(ac.__all__, key=str.lower):
        found = getattr(ac, name)
        if not (inspect.isclass(found) or inspect.isfunction(found)):
            continue
        parts += [f"## ac.{name}", _signature(f"ac.{name}", found), _text(vars(found).get("__doc__") or found.__doc__)]
        if inspect.isclass(found):
            parts += [part for method in _methods(found) for part in method]
    return "\n\n".join(filter(None, parts)) + "\n"


def _methods(cls: type) -> Iterator[tuple[str, str, str]]:
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and member.__doc__ and member.__module__.startswith("acausal"):
            yield f"### {cls.__name__}.{name}", _signature(name, member), _text(member.__doc__)


def _signature(name: str, found: Any) -> str:
    try:
        return f"```python\n{name}{inspect.signature(found)}\n```"
    except (TypeError, ValueError):
        return ""


def _text(doc: str | None, arguments: bool = True) -> str:
    """A docstring as Markdown: examples keep their lines, and so do lists of arguments, which only functions have."""
    lines = inspect.cleandoc(doc or "").split("\n\n")
    kept = r"^(>>>|\s{4}|\w+(, \w+)*: )" if arguments else r"^(>>>|\s{4})"
    return "\n\n".join(f"```\n{part}\n```" if re.search(kept, part, re.M) else part for part in lines)


def components() -> str:
    """The component catalogue: what each class is, its parameters, ports and equations."""
    import acausal.library as library

    parts = ["# Components", "What the library has, made from the classes themselves."]
    for info in sorted(pkgutil.walk_packages(library.__path__, "acausal.library."), key=lambda i: i.name):
        module = importlib.import_module(info.name)
        classes = [
            c for c in vars(module).values()
            if inspect.isclass(c) and c.__module__ == info.name and issubclass(c, ac.Component) and not c.__name__.startswith("_")
        ]  # fmt: skip
        if classes:
            parts.append(f"## {info.name.removeprefix('acausal.library.')}")
            parts.append(inspect.cleandoc(module.__doc__ or "").split("\n\n")[0])
            parts += [part for cls in classes for part in _component(cls)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _component(cls: Any) -> Iterator[str]:
    yield f"### {cls.__name__}"
    yield svg(cls)
    yield _text(vars(cls).get("__doc__"), arguments=False)
    declared = [(n, d) for n, d in cls._class_declared.items() if isinstance(d, Declaration)]
    rows = [
        f"| `{name}` | {d.role} | {d.unit or '1'} | {_value(d)} | {_bounds(d)} | {d.doc.replace('|', '/')} |"
        for name, d in declared
    ]
    if rows:
        yield "\n".join(["| name | is | unit | value or start | bounds | what it is |", "|---|---|---|---|---|---|", *rows])
    ports = [f"`{n}` ({type(d).__name__})" for n, d in cls._class_declared.items() if isinstance(d, Connector)]
    if ports:
        yield "Connectors: " + ", ".join(ports)
    stated = list(_equations(cls))
    if stated:
        yield "```python\n" + "\n".join(stated[:20]) + "\n```"


def _value(declared: Declaration) -> str:
    value = declared.value if declared.role in ("parameter", "input") else declared.start
    return "" if value is None else _number(value)[:40].replace("|", "/")


def example_pages() -> Iterator[tuple[str, str]]:
    """A page for each example, with what it draws (`scripts/pictures.py`), and one that lists them."""
    parts = ["# Gallery of examples"]
    for file in sorted((ROOT / "examples").glob("*.py")):
        source, title = file.read_text(encoding="utf-8"), file.stem.replace("_", " ")
        doc = ast.get_docstring(ast.parse(source)) or ""
        first = doc.splitlines()[0] if doc else ""
        there = (ROOT / "docs" / "images" / "examples" / f"{file.stem}.png").is_file()
        picture = f"![{title}](../images/examples/{file.stem}.png)" if there else ""
        parts += [f"## [{title}]({file.stem}.md)", first, f"[{picture}]({file.stem}.md)" if there else ""]
        yield (
            f"examples/{file.stem}.md",
            "\n\n".join(filter(None, [f"# {title}", first, picture, f"```python\n{source}```"])) + "\n",
        )
    yield "examples/index.md", "\n\n".join(filter(None, parts)) + "\n"


def notebook_page(path: Path) -> str:
    """A notebook as a page: text and code."""
    texts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        texts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(texts) + f"\n\nThe notebook itself: [{path.name}]({path.name}).\n"


# --- what mkdocs calls ------------------------------------------------------------------------------------------------------------


def on_config(config: Any) -> Any:
    """A page that nobody put into the navigation stands at the end of it."""
    listed = json.dumps(config["nav"])
    rest = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f'"{page.name}"' not in listed]
    if rest:
        config["nav"].append({"More": rest})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what is made from the program."""
    from mkdocs.structure.files import File

    made = {"reference.md": reference(), "components.md": components(), **dict(example_pages())}
    made |= {f"notebooks/{book.stem}.md": notebook_page(book) for book in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))}
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to examples lead to their pages."""
    markdown = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](examples/\1.md)", markdown)
    return re.sub(r"\[([^\]]*)\]\(\.\./examples/erroneous\)", r"\1", markdown)
