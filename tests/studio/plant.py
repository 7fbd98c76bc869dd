"""The plant of these tests, as a file that a user would write: a warm room, a thermostat, and ways to go wrong."""

PLANT = '''
import os
import acausal as ac
from acausal.library.thermal import HeatCapacitor, HeatPort, PrescribedTemperature, ThermalConductor


@ac.function(opaque=True, derivative=lambda trouble: 0.0)
def mishap(trouble):
    if trouble == 1.0:
        os.abort()
    while trouble == 2.0:
        pass
    if trouble == 3.0:
        return len(bytearray(1 << 40))
    return 0.0


class Thermostat(ac.Component):
    """Switches a heater on and off."""

    port = HeatPort()
    T_on = ac.Parameter(292.15, unit="K", min=0, doc="temperature below which it heats")
    T_off = ac.Parameter(294.15, unit="K", min=0, doc="temperature above which it stops")
    power = ac.Parameter(800.0, unit="W", min=0, max=5000, doc="power of the heater")
    heating = ac.OutputStates("on", "off", initial="off")
    trouble = ac.Parameter(0.0, doc="what shall go wrong")

    def equations(self):
        yield self.port.Q_flow == -ac.match(self.heating, on=self.power, off=0.0) + mishap(self.trouble)

    def transitions(self):
        yield self.heating.off.to("on", when=self.port.T < self.T_on)
        yield self.heating.on.to("off", when=self.port.T > self.T_off)


class House(ac.Component):
    """A room, its wall and a thermostat."""

    G = ac.Parameter(20.0, unit="W/K", min=0, max=100, doc="conductance of the wall")

    def __init__(self, rooms: int = 1):
        self.room = HeatCapacitor(C=5e5, T=ac.start(293.15, fixed=True))
        self.wall = ThermalConductor(G=self.G)
        self.outside = PrescribedTemperature(T=273.15)
        self.thermostat = Thermostat()

    def connections(self):
        yield self.room.port, self.wall.a, self.thermostat.port
        yield self.wall.b, self.outside.port


__model__ = "House"
__studio__ = {"until": "6 h", "plots": [["room.T"], ["wall.Q_flow"]]}
'''
