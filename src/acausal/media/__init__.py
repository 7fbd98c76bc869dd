"""Media: fluids and their properties, for numbers and in equations. `ac.media.fluid("R134a")`.

CoolProp is imported when a table is made for the first time, not before.
"""

from ..language.medium import Medium
from .by_temperature import Liquid, Solid, liquid, solid
from .constant import ConstantMedium
from .direct import DirectFluid, direct
from .fluid import Fluid, Saturation, State, fluid
from .gas import IdealGas, ideal_gas
from .moist_air import MoistAir, moist_air
from .names import known_fluids

__all__ = [
    "ConstantMedium",
    "DirectFluid",
    "Fluid",
    "IdealGas",
    "Liquid",
    "Medium",
    "MoistAir",
    "Saturation",
    "Solid",
    "State",
    "direct",
    "fluid",
    "ideal_gas",
    "known_fluids",
    "liquid",
    "moist_air",
    "solid",
]
