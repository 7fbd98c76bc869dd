"""Media: fluids and their properties, for numbers and in equations. `ac.media.fluid("R134a")`.

CoolProp is imported when a table is made for the first time, not before.
"""

from .constant import ConstantMedium
from .fluid import Fluid, Saturation, State, fluid
from .gas import IdealGas, ideal_gas
from .names import known_fluids

__all__ = ["ConstantMedium", "Fluid", "IdealGas", "Saturation", "State", "fluid", "ideal_gas", "known_fluids"]
