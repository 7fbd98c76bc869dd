"""The file imports what is not installed.

Wanted: a model with properties of a refrigerant from another package.
Means: Python does not find the module in the environment in which `acausal` runs.
Do: Install it there, or correct its name.
"""

import acausal as ac
import coolant_properties  # <- not installed

THEME = "Model files"
SHOWN = "acausal check missing_module.py"
EXPECT = ["missing_module.py:9", "coolant_properties", "try"]


class Cycle(ac.Component):
    h = ac.Parameter(coolant_properties.enthalpy(300.0))
