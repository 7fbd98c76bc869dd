"""Icons of the library's components: a small drawing for each class, which its subclasses inherit.

A class of one's own has the icon of the nearest class above it, or the one it declares: ``icon = '<path d="M4 24 H44"/>'``, drawn
on a square of 48 by 48 with lines that have the colour of the text around. What has none is a box with its initials.
"""

from __future__ import annotations

from ..errors import UsageError
from ..language.icons import BOX, boxed, drawing, is_drawing, picture, text

__all__ = ["ICONS", "drawing", "svg"]

_BOWTIE = '<path d="M8 14 L40 34 V14 L8 34 Z"/>'
_CIRCLE = '<circle cx="24" cy="24" r="16"/>'
_PIPE = '<path d="M4 18 H44 M4 30 H44"/>'
_VESSEL = '<path d="M14 12 a10 6 0 0 1 20 0 V36 a10 6 0 0 1 -20 0 Z"/>'
_COIL = '<path d="M4 12 H38 a4 4 0 0 1 0 8 H12 a4 4 0 0 0 0 8 H38 a4 4 0 0 1 0 8 H4"/>'
_FINS = '<path d="M16 6 V42 M24 6 V42 M32 6 V42"/>'
_METER = '<circle cx="24" cy="18" r="12"/><path d="M24 30 V40 M4 40 H44"/>'

ICONS: dict[str, str] = {
    # fluid
    "fluid.boundaries.PressureBoundary": '<path d="M10 10 V38 M10 24 H44 M36 18 L44 24 L36 30"/>' + text("p", 20, 12),
    "fluid.boundaries.FlowSource": _CIRCLE + '<path d="M14 24 H34 M28 18 L34 24 L28 30"/>',
    "fluid.boundaries.Closed": '<path d="M4 24 H30 M30 12 V36 M36 12 V36"/>',
    "fluid.exchangers.HeatExchanger": _CIRCLE + '<path d="M2 24 H14 L20 14 L28 34 L34 24 H46"/>',
    "fluid.exchangers.LogMeanExchanger": _CIRCLE + '<path d="M2 24 H14 L20 14 L28 34 L34 24 H46"/>' + text("ln", 24, 44),
    "fluid.exchangers.PlateExchanger": BOX + '<path d="M16 8 V40 M24 8 V40 M32 8 V40 M8 40 L40 8"/>',
    "fluid.exchangers.CellularExchanger": '<rect x="4" y="10" width="40" height="10"/><rect x="4" y="28" width="40" height="10"/>'
    '<path d="M14 10 V20 M24 10 V20 M34 10 V20 M14 28 V38 M24 28 V38 M34 28 V38 M24 20 V28"/>',
    "fluid.crossflow.CrossFlowExchanger": BOX + '<path d="M2 24 H46 M40 18 L46 24 L40 30 M24 2 V46 M18 40 L24 46 L30 40"/>',
    "fluid.machines.Pump": _CIRCLE + '<path d="M16 10 L40 24 L16 38"/>',
    "fluid.turbomachines.ShaftPump": _CIRCLE + '<path d="M16 10 L40 24 L16 38 M24 40 V46"/>',
    "fluid.machines.Turbine": '<path d="M12 18 L36 8 V40 L12 30 Z"/>',
    "fluid.turbomachines.TurboCompressor": '<path d="M12 8 L36 18 V30 L12 40 Z"/>',
    "fluid.passages.Passage": _PIPE,
    "fluid.passages.Throttle": _BOWTIE,
    "fluid.passages.Orifice": _PIPE + '<path d="M24 18 V22 M24 26 V30"/>',
    "fluid.passages.Valve": _BOWTIE + '<path d="M24 24 V8 M16 8 H32"/>',
    "fluid.pipes.Pipe": _PIPE + '<path d="M16 24 H32 M27 20 L32 24 L27 28"/>',
    "fluid.pipes.DistributedPipe": _PIPE + '<path d="M14 18 V30 M24 18 V30 M34 18 V30"/>',
    "fluid.mean_density.MeanDensityPipe": _PIPE + '<path d="M14 18 V30 M34 18 V30"/>' + text("ρ", 28, 12),
    "fluid.two_phase.TwoPhasePipe": _PIPE + '<path d="M6 26 q4 -4 9 0 t9 0 t9 0 t9 0"/>',
    "fluid.two_phase.Drum": '<rect x="4" y="12" width="40" height="22" rx="11"/>'
    '<path d="M7 25 H41 M16 34 V44 M32 34 V44 M24 12 V4"/>',
    "fluid.two_phase.Separator": _VESSEL + '<path d="M14 28 H34 M4 22 H14 M24 6 V2 M24 42 V46"/>',
    "fluid.sensors.Sensor": _METER,
    "fluid.sensors.PressureSensor": _METER + text("p", 23),
    "fluid.sensors.TemperatureSensor": _METER + text("T", 23),
    "fluid.sensors.FlowSensor": _METER + text("m", 23),
    "fluid.sensors.SuperheatSensor": _METER + text("ΔT", 23, 12),
    "fluid.sensors.SubcoolingSensor": _METER + text("ΔT", 23, 12),
    "fluid.tanks.ExpansionVessel": _VESSEL + '<path d="M14 26 Q24 20 34 26 M24 42 V48"/>',
    "fluid.tanks.OpenTank": '<path d="M10 8 V40 H38 V8 M10 20 H38 M18 26 H30"/>',
    "fluid.tanks.StratifiedTank": _VESSEL + '<path d="M14 18 H34 M14 24 H34 M14 30 H34"/>',
    "fluid.valves.CheckValve": '<path d="M12 12 V36 L36 24 Z M36 12 V36 M4 24 H12 M36 24 H44"/>',
    "fluid.valves.SolenoidValve": _BOWTIE + '<path d="M24 24 V16"/><rect x="17" y="4" width="14" height="12"/>',
    "fluid.valves.Nozzle": '<path d="M4 10 Q24 24 44 18 M4 38 Q24 24 44 30"/>',
    "fluid.valves.Chamber": '<circle cx="24" cy="24" r="11"/><path d="M2 24 H13 M35 24 H46 M24 35 V46"/>',
    "fluid.valves.ThreeWayValve": '<path d="M6 12 L24 24 L6 36 Z M42 12 L24 24 L42 36 Z M12 44 L24 24 L36 44 Z"/>',
    "fluid.valves.FourWayValve": _CIRCLE + '<path d="M24 8 Q24 24 8 24 M40 24 Q24 24 24 40"/>',
    "fluid.volumes.Volume": _CIRCLE,
    # air
    "air.boundaries.Surroundings": '<path d="M12 32 a7 7 0 0 1 0 -14 a9 9 0 0 1 17 -4 a8 8 0 0 1 6 18 Z M16 40 H36"/>',
    "air.boundaries.AirFlow": _CIRCLE + '<path d="M14 20 q5 -5 10 0 t10 0 M14 30 q5 -5 10 0 t10 0"/>',
    "air.coils.WetSurface": _COIL + _FINS,
    "fluid.machines.Fan": _CIRCLE + '<path d="M24 24 q-4 -12 4 -14 q4 6 -4 14 q12 -4 14 4 q-6 4 -14 -4 q4 12 -4 14 q-4 -6 4 -14 '
    'q-12 4 -14 -4 q6 -4 14 4"/>',
    # refrigeration
    "refrigeration.cabinets.DisplayCabinet": '<path d="M10 6 H36 V12 H18 V36 H36 V42 H10 Z M18 20 H32 M18 28 H32 M38 14 V34"/>',
    "refrigeration.compressors.Displacement": _CIRCLE + '<path d="M11 14 L38 19 M11 34 L38 29"/>',
    "refrigeration.compressors.ShaftCompressor": _CIRCLE + '<path d="M11 14 L38 19 M11 34 L38 29 M24 40 V46"/>',
    "refrigeration.compressors.MapCompressor": _CIRCLE + '<path d="M11 14 L38 19 M11 34 L38 29"/>',
    "refrigeration.distributed.DistributedExchanger": _COIL,
    "refrigeration.moving_boundary.MovingBoundary": _COIL,
    "refrigeration.moving_boundary.Evaporator": _COIL + '<path d="M24 2 V8 M21 5 L24 8 L27 5"/>',
    "refrigeration.moving_boundary.Condenser": _COIL + '<path d="M24 8 V2 M21 5 L24 2 L27 5"/>',
    "refrigeration.expansion.ThermostaticValve": _BOWTIE + '<path d="M24 24 V12 M14 12 a10 8 0 0 1 20 0 Z"/>',
    "refrigeration.expansion.ElectronicValve": _BOWTIE + '<path d="M24 24 V16"/>' + '<circle cx="24" cy="10" r="6"/>',
    "refrigeration.expansion.Capillary": '<path d="M4 24 H12 a4 6 0 0 1 8 0 a4 6 0 0 1 8 0 a4 6 0 0 1 8 0 H44"/>',
    "refrigeration.internal.InternalExchanger": '<path d="M4 16 H12 L18 8 L30 24 L36 16 H44 M4 34 H44"/>',
    "refrigeration.receivers.Vessel": _VESSEL,
    "refrigeration.receivers.Receiver": _VESSEL + '<path d="M14 26 H34 M24 6 V2 M24 42 V46"/>',
    "refrigeration.receivers.Accumulator": _VESSEL + '<path d="M14 32 H34 M20 2 V14 M28 2 V36 a3 3 0 0 0 6 0"/>',
    "refrigeration.rooms.ColdRoom": '<path d="M6 22 L24 8 L42 22 V42 H6 Z M24 20 V36 M17 24 L31 32 M31 24 L17 32"/>',
    "refrigeration.rooms.FrostedCoil": _COIL + '<path d="M24 2 V8 M21 3 L27 7 M27 3 L21 7"/>',
    "refrigeration.rooms.Thermostat": BOX + text("T") + '<path d="M14 36 H22 V33 H34"/>',
    "refrigeration.rooms.DefrostClock": _CIRCLE + '<path d="M24 12 V24 L32 30"/>',
    "refrigeration.rooms.Door": '<path d="M12 42 V6 H36 V42 M12 42 H36 M30 24 V27"/>',
    # control
    "control.LimitedPID": boxed("PID"),
    "control.SuperheatController": BOX + text("ΔT", 25, 12) + '<path d="M14 36 L24 30 L34 36 V30 L24 36 L14 30 Z"/>',
    "control.RateLimiter": BOX + '<path d="M12 34 H18 L30 14 H36"/>',
    "control.Staging": BOX + '<path d="M12 36 V30 H20 V22 H28 V14 H36"/>',
    "control.Sequencer": BOX + '<path d="M12 36 V30 H20 V22 H28 V14 H36"/>',
    # thermal
    "thermal.HeatCapacitor": '<path d="M10 34 a8 8 0 0 1 0 -14 a10 10 0 0 1 18 -8 a9 9 0 0 1 12 12 a7 7 0 0 1 -4 10 Z"/>',
    "thermal.TwoPort": '<rect x="10" y="16" width="28" height="16"/><path d="M2 24 H10 M38 24 H46"/>',
    "thermal.Convection": '<path d="M10 8 V40 M18 12 q6 6 0 12 t0 12 M28 12 q6 6 0 12 t0 12 M38 12 q6 6 0 12 t0 12"/>',
    "thermal.BodyRadiation": '<path d="M8 8 V40 M40 8 V40 M12 16 q4 -4 8 0 t8 0 t8 0 M12 32 q4 -4 8 0 t8 0 t8 0"/>',
    "thermal.ThermalCollector": '<path d="M8 10 L24 24 L40 10 M24 24 V44"/>',
    "thermal.FixedTemperature": boxed("T"),
    "thermal.PrescribedTemperature": boxed("T"),
    "thermal.FixedHeatFlow": _CIRCLE + text("Q"),
    "thermal.PrescribedHeatFlow": _CIRCLE + text("Q"),
    "thermal.TemperatureSensor": _METER + text("T", 23),
    "thermal.RelativeTemperatureSensor": _METER + text("ΔT", 23, 12),
    "thermal.HeatFlowSensor": _METER + text("Q", 23),
    "thermal.Thermostat": BOX + text("T") + '<path d="M14 36 H22 V33 H34"/>',
    "thermal.Wall": '<path d="M14 6 V42 M34 6 V42 M14 14 L34 6 M14 24 L34 14 M14 34 L34 24 M14 42 L34 34"/>',
    "thermal.LayeredWall": '<path d="M10 6 V42 M20 6 V42 M28 6 V42 M38 6 V42 M20 16 L28 10 M20 28 L28 22 M20 40 L28 34"/>',
    "thermal.Room": '<path d="M6 22 L24 8 L42 22 V42 H6 Z"/>',
    # electrical and mechanical bases
    "electrical.TwoPin": '<path d="M2 24 H12 M36 24 H46"/><rect x="12" y="18" width="24" height="12"/>',
    "electrical.Capacitor": '<path d="M2 24 H21 M21 12 V36 M27 12 V36 M27 24 H46"/>',
    "electrical.Inductor": '<path d="M2 24 H8 a4 5 0 0 1 8 0 a4 5 0 0 1 8 0 a4 5 0 0 1 8 0 a4 5 0 0 1 8 0 H46"/>',
    "electrical.Diode": '<path d="M2 24 H16 M16 14 V34 L32 24 Z M32 14 V34 M32 24 H46"/>',
    "electrical.Ground": '<path d="M24 6 V24 M10 24 H38 M16 31 H32 M21 38 H27"/>',
    "mechanics.rotational.Inertia": '<rect x="14" y="8" width="20" height="32"/><path d="M2 24 H14 M34 24 H46"/>',
    "mechanics.drives.InductionMotor": _CIRCLE + text("M") + '<path d="M40 24 H46"/>',
    "mechanics.translational.Mass": '<rect x="12" y="12" width="24" height="24"/><path d="M2 24 H12 M36 24 H46 M6 42 H42"/>',
    "mechanics.rotational.Spring": '<path d="M2 24 H10 L14 12 L20 36 L26 12 L32 36 L38 24 H46"/>',
    "mechanics.translational.Spring": '<path d="M2 24 H10 L14 12 L20 36 L26 12 L32 36 L38 24 H46"/>',
    "mechanics.rotational.Damper": '<path d="M2 24 H22 M22 16 V32 M34 14 H14 V34 H34 M30 24 H46"/>',
    "mechanics.translational.Damper": '<path d="M2 24 H22 M22 16 V32 M34 14 H14 V34 H34 M30 24 H46"/>',
    "mechanics.rotational.AngleSensor": _METER + text("φ", 23),
    "mechanics.rotational.SpeedSensor": _METER + text("w", 23),
    "mechanics.rotational.TorqueSensor": _METER + text("τ", 23),
    "mechanics.rotational.PowerSensor": _METER + text("P", 23),
    "mechanics.translational.PositionSensor": _METER + text("s", 23),
    "mechanics.translational.SpeedSensor": _METER + text("v", 23),
    "mechanics.translational.ForceSensor": _METER + text("f", 23),
    "mechanics.translational.PowerSensor": _METER + text("P", 23),
    "electrical.VoltageSensor": _METER + text("V", 23),
    "electrical.PotentialSensor": _METER + text("V", 23),
    "electrical.CurrentSensor": _METER + text("A", 23),
    "electrical.PowerSensor": _METER + text("P", 23),
    # signals
    "signal.Source": '<path d="M8 40 V8 M8 40 H42 M8 24 q8 -20 16 0 t16 0"/>',
    "signal.Block": '<path d="M4 24 H12 M36 24 H44"/><rect x="12" y="12" width="24" height="24"/>',
    "signal.PI": boxed("PI"),
    "signal.LimitedPI": boxed("PI"),
    "signal.PID": boxed("PID"),
}


def svg(of: type, size: int = 48) -> str:
    """The icon of a component's class, as a picture to be put into a page or a file.

    >>> from acausal.library import fluid
    >>> svg(fluid.Pump).startswith("<svg"), svg(fluid.SolenoidValve) != svg(fluid.Valve)
    (True, True)
    """
    declared = vars(of).get("icon")
    if isinstance(declared, str) and not is_drawing(declared):
        raise UsageError(
            f"The icon of {of.__name__} is not a drawing: {declared[:60]!r}.",
            remedy="It is shapes of SVG on a square of 48 by 48: `icon = '<path d=\"M4 24 H44\"/>'`; "
            "path, circle, ellipse, rect, line, polyline, polygon and text, in lower case and double quotes.",
        )
    return picture(drawing(of), size)
