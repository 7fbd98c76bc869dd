"""Fluid networks: volumes, tanks, pipes, valves, pumps, turbines, heat exchangers, boundaries and sensors of any medium of
`ac.media`.

Flow may turn anywhere and at any time; zero flow is normal. Volumes have mass and energy as states (those of liquid pressure and
enthalpy); what stands between them sets the flow. Put a volume between two valves, or the pressure between them is an algebraic
unknown.
"""

from __future__ import annotations

from .boundaries import Closed, FlowSource, PressureBoundary
from .crossflow import CrossFlowExchanger
from .exchangers import CellularExchanger, HeatExchanger, LogMeanExchanger, PlateExchanger
from .friction import blasius_factor, friction_factor, pressure_loss
from .heat_transfer import Transfer, Tube, TubeFlow
from .machines import Fan, Pump, Turbine
from .mean_density import MeanDensityPipe
from .passages import Orifice, Passage, Throttle, Valve
from .pipes import DistributedPipe, Pipe
from .sections import effectiveness
from .sensors import FlowSensor, PressureSensor, Sensor, SubcoolingSensor, SuperheatSensor, TemperatureSensor
from .tanks import ExpansionVessel, OpenTank, StratifiedTank
from .turbomachines import LinneckenTurbine, ShaftPump, ShaftTurbine, TurboCompressor
from .two_phase import Drum, Separator, TwoPhasePipe
from .valves import Chamber, CheckValve, FourWayValve, Nozzle, SolenoidValve, ThreeWayValve
from .volumes import LiquidVolume, Volume

__all__ = [
    "CellularExchanger", "Chamber", "CheckValve", "Closed", "CrossFlowExchanger", "DistributedPipe", "Drum", "ExpansionVessel",
    "Fan", "FlowSensor", "FlowSource", "FourWayValve", "HeatExchanger", "LinneckenTurbine", "LiquidVolume", "LogMeanExchanger",
    "MeanDensityPipe", "Nozzle", "OpenTank", "Orifice", "Passage", "Pipe", "PlateExchanger", "PressureBoundary",
    "PressureSensor", "Pump", "Sensor", "Separator", "ShaftPump", "ShaftTurbine", "SolenoidValve", "StratifiedTank",
    "SubcoolingSensor", "SuperheatSensor", "TemperatureSensor", "ThreeWayValve", "Throttle", "Transfer", "Tube", "TubeFlow",
    "Turbine", "TurboCompressor", "TwoPhasePipe", "Valve", "Volume", "blasius_factor", "effectiveness", "friction_factor",
    "pressure_loss",
]  # fmt: skip
