"""A plug-in for mypy: constructors of components take what their classes declare, and nothing else.

    # pyproject.toml
    [tool.mypy]
    plugins = ["acausal.mypy_plugin"]

`Wall(G=2.0)` is checked against the parameters, variables and connectors of `Wall` and of the classes it is derived from, beside
the arguments of its `__init__`; a misspelt one is an error at that line. (`dataclass_transform` cannot do it: declarations have no
annotations.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy.nodes import ARG_NAMED_OPT, ARG_STAR2, TypeInfo, Var
from mypy.plugin import FunctionSigContext, Plugin
from mypy.types import AnyType, FunctionLike, Instance, TypeOfAny, get_proper_type

_COMPONENT = "acausal.language.component.Component"
_DECLARED = ("acausal.language.declarations.Declaration", "acausal.language.connector.Connector", _COMPONENT)


class AcausalPlugin(Plugin):
    """Gives the constructors of components their arguments."""

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        found = self.lookup_fully_qualified(fullname)
        info = found.node if found is not None else None
        if not isinstance(info, TypeInfo) or not info.has_base(_COMPONENT) or info.fullname == _COMPONENT:
            return None
        return lambda context: _with_declared(context, info)


def _with_declared(context: FunctionSigContext, info: TypeInfo) -> FunctionLike:
    signature = context.default_signature
    kept = [k for k, kind in enumerate(signature.arg_kinds) if kind != ARG_STAR2 or not _of_component(info)]
    if any(signature.arg_kinds[k] == ARG_STAR2 for k in kept):
        return signature  # its own `**kwargs` may mean anything
    names = [signature.arg_names[k] for k in kept]
    more = [name for name in _declared(info) if name not in names]
    return signature.copy_modified(
        arg_names=[*names, *more],
        arg_kinds=[*(signature.arg_kinds[k] for k in kept), *[ARG_NAMED_OPT] * len(more)],
        arg_types=[*(signature.arg_types[k] for k in kept), *[AnyType(TypeOfAny.explicit)] * len(more)],
    )


def _of_component(info: TypeInfo) -> bool:
    """Whether `__init__` is the one that every component has."""
    method = info.get_method("__init__")
    return method is not None and method.info.fullname == _COMPONENT


def _declared(info: TypeInfo) -> list[str]:
    """What a class declares, and those it is derived from; what only its `__init__` declares is not known to be there."""
    names: dict[str, None] = {}
    for base in info.mro:
        for name, symbol in base.names.items():
            if isinstance(symbol.node, Var) and not name.startswith("_") and _is_declaration(symbol.node):
                names[name] = None
    return list(names)


def _is_declaration(node: Var) -> bool:
    kind = get_proper_type(node.type) if node.type is not None else None
    return kind is None or isinstance(kind, AnyType) or (isinstance(kind, Instance) and any(map(kind.type.has_base, _DECLARED)))


def plugin(version: str) -> type[Any]:
    """What mypy asks for."""
    return AcausalPlugin
