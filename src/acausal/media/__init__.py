"""Media: fluids and their properties, for numbers and in equations. `ac.media.fluid("R134a")`.

CoolProp is imported when a table is made for the first time, not before.
"""

from .fluid import Fluid, Saturation, State, fluid
from .names import known_fluids

__all__ = ["Fluid", "Saturation", "State", "fluid", "known_fluids"]
