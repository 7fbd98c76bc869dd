"""Names of fluids: what users say, what CoolProp says, and what may have been meant."""

from __future__ import annotations

import functools
import json
from importlib.metadata import version

from ..errors import UsageError, near_matches
from . import cache

# Refrigerants are known by their numbers; CoolProp has most of them as aliases, these are the ones people ask for first.
_OTHER_NAMES = {
    "r717": "Ammonia", "r744": "CO2", "r718": "Water", "r290": "n-Propane", "r600a": "IsoButane", "r600": "n-Butane",
    "r728": "Nitrogen", "r732": "Oxygen", "r702": "Hydrogen", "r704": "Helium", "propane": "n-Propane", "carbon dioxide": "CO2",
    "ammonia": "Ammonia", "steam": "Water", "h2o": "Water", "n2": "Nitrogen", "o2": "Oxygen", "h2": "Hydrogen", "he": "Helium",
}  # fmt: skip


@functools.cache
def _names() -> dict[str, list[str]]:
    """CoolProp's fluids and their aliases; kept on disk, because CoolProp takes seconds to load."""
    file = f"fluid-names-{version('CoolProp')}.json"
    kept = cache.read(file)
    if kept is not None:
        return dict(json.loads(bytes(kept)))
    import CoolProp.CoolProp as coolprop

    found = {}
    for name in sorted(coolprop.get_global_param_string("FluidsList").split(",")):
        aliases = coolprop.get_aliases(name)
        found[name] = [str(a).strip() for a in (aliases if isinstance(aliases, (list, tuple)) else str(aliases).split(","))]
    cache.write(file, json.dumps(found).encode())
    return found


def known_fluids() -> tuple[str, ...]:
    """The pure and pseudo-pure fluids of CoolProp, by its own names.

    >>> "R134a" in known_fluids()
    True
    """
    return tuple(_names())


@functools.cache
def _by_folded_name() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, aliases in _names().items():
        for alias in (name, *aliases):
            found.setdefault(alias.casefold(), name)
    return found


def coolprop_name(fluid: str) -> str:
    """CoolProp's name of a fluid, whatever it is called; an error with near matches if it has none.

    >>> coolprop_name("r717")
    'Ammonia'
    """
    if not isinstance(fluid, str):
        raise UsageError(f"A fluid is known by its name, got {fluid!r} of type {type(fluid).__name__}.")
    folded = fluid.strip().casefold()
    names = _by_folded_name()
    found = names.get(_OTHER_NAMES.get(folded, folded).casefold())
    if found is None:
        hint = near_matches(fluid, [*known_fluids(), *(n.upper() for n in _OTHER_NAMES if n.startswith("r"))])
        raise UsageError(
            f"CoolProp knows no fluid `{fluid}`. {hint}".rstrip(),
            remedy="`ac.media.known_fluids()` lists them; docs/media.md says how to write a medium of your own.",
        )
    return found
