"""A direct-current motor drives a fan through an elastic shaft.

Shows: domains that meet (electrical, rotational), a limited controller, energy that adds up.
"""

import acausal as ac
from acausal.library import electrical, signal
from acausal.library.electromechanics import RotationalEMF
from acausal.library.mechanics import rotational


class Motor(ac.Component):
    """Armature resistance and inductance, rotor; voltage between p and n, torque at the flange."""

    p, n = electrical.Pin(), electrical.Pin()
    flange = rotational.Flange()

    def __init__(self):
        self.R, self.L = electrical.Resistor(R=0.5), electrical.Inductor(L=5e-3)
        self.emf = RotationalEMF(k=0.4)
        self.rotor = rotational.Inertia(J=2e-3)

    def connections(self):
        yield self.p, self.R.p
        yield self.R.n, self.L.p
        yield self.L.n, self.emf.p
        yield self.emf.n, self.n
        yield self.emf.flange, self.rotor.a
        yield self.rotor.b, self.flange


class Drive(ac.Component):
    def __init__(self):
        self.motor, self.ground, self.source = Motor(), electrical.Ground(), electrical.SignalVoltage()
        self.shaft = rotational.SpringDamper(c=20.0, d=0.01)
        self.impeller, self.fan = rotational.Inertia(J=0.02), rotational.QuadraticLoad(tau_nominal=2.0, w_nominal=100.0)
        self.speed, self.power = rotational.SpeedSensor(), rotational.PowerSensor()
        self.wish = signal.Ramp(height=80.0, duration=0.5, start_time=0.1)
        self.error, self.control = signal.Add(k2=-1.0), signal.LimitedPI(k=1.0, T=0.3, y_max=60.0)

    def connections(self):
        yield self.source.p, self.motor.p
        yield self.source.n, self.motor.n, self.ground.p
        yield self.motor.flange, self.power.a
        yield self.power.b, self.shaft.a
        yield self.shaft.b, self.impeller.a
        yield self.impeller.b, self.fan.flange, self.speed.flange
        yield self.wish.y, self.error.u1
        yield self.speed.w, self.error.u2
        yield self.error.y, self.control.u
        yield self.control.y, self.source.V


def main():
    result = ac.compile(Drive()).simulate(until=3.0, points=3001)
    print(result)
    print(f"The fan ends at {result['impeller.w'][-1]:.2f} rad/s of 80 rad/s, with {result['motor.R.i'][-1]:.2f} A.")
    print(f"The motor gives {result['power.P'][-1]:.0f} W to the shaft, {result['power.P'].max():.0f} W at most.")
    print(f"The shaft twists by at most {abs(result.in_unit('shaft.phi_rel', 'deg')).max():.1f}°.")
    result.plot("wish.y", "speed.w", "motor.rotor.w", "source.v", "motor.R.i", "shaft.tau", file="motor.png")
    return result


if __name__ == "__main__":
    main()
