"""Where fluid enters and leaves: pressure, mass flow, and the enthalpy that the flow carries."""

from __future__ import annotations

import acausal as ac


class FluidPort(ac.Connector):
    """A flange: pressure p, mass flow m_flow into the component, and the specific enthalpy h that goes with it.

    h is a stream: a component states what would leave it (``port.h.outflow == …``) and reads what would enter
    (``port.h.inflow``) or what passes (``port.h.actual``). Flow may turn at any time, and zero flow is regular.
    """

    p = ac.Potential(unit="Pa", start=1e5, nominal=1e5, doc="pressure")
    m_flow = ac.Flow(unit="kg/s", nominal=0.01, doc="mass flow into the component")
    h = ac.Stream(with_="m_flow", unit="J/kg", nominal=1e5, doc="specific enthalpy")
