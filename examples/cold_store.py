"""A cold store over a day: how it runs, what it needs, its cycle in diagrams, and what happens when refrigerant is missing.

Shows: fluids, moving boundaries, accounts of charge and energy, diagrams, a table of states, variations without translating again.
The plant itself, made of components of the library, is `acausal.library.refrigeration.ColdStore`.
"""

import acausal as ac
from acausal.library.refrigeration.cold_store import CYCLE, ColdStore, accounts, at_work

DAY, KWH = 86400.0, 3.6e6
LEAKS = (0.45, 0.65, 0.8)  # kg, of 1 kg
__studio__ = {"until": "1 day", "plots": [["room.T", "room.T_goods", "evaporator.T_saturation"], ["compressor.P"], ["coil.frost"]]}


def tell(result):
    starts = sum(s.state == "on" for s in result.states("compressor.run"))
    room, goods = (result.in_unit(name, "degC") for name in ("room.T", "room.T_goods"))
    drift, gap = accounts(result)
    print(f"The compressor starts {starts} times; the room stays between {room.min():.1f} and {room.max():.1f} °C.")
    print(f"Goods between {goods.min():.2f} and {goods.max():.2f} °C with {result['W'][-1] / KWH:.1f} kWh of electricity,")
    print(f"{result['Q_cold'][-1] / result['W'][-1]:.2f} times as much heat was taken out of the room.")
    print(f"Charge drifts by {drift:.0e}, energy is unaccounted for to {gap:.0e} of what went through.")


def pictures(result):
    moment = at_work(result)
    print(ac.state_points(result, CYCLE, "R134a", at=moment))
    ac.ph_diagram("R134a", result, CYCLE, at=moment, file="cold_store_ph.png")
    ac.ts_diagram("R134a", result, CYCLE, at=moment, file="cold_store_ts.png")
    curves = ("room.T", "room.T_goods", "evaporator.T_saturation", "compressor.P", "superheat.y", "coil.frost")
    result.plot(*curves, unit={"room.T": "degC", "room.T_goods": "degC", "evaporator.T_saturation": "degC"}, file="cold_store.png")


def leak(model, less):
    """So much less in the receiver, and in the condenser where that is not enough: how long the compressor runs, and the goods."""
    receiver = max(0.6 - less, 0.02)
    charges = {"receiver.charge_start": receiver, "condenser.charge_start": 0.95 - less - receiver}
    result = model.simulate(until="4 h", set=charges)
    return result.time_in("compressor.run")["on"] / result.time[-1], result.in_unit("room.T_goods", "degC")[-1]


def main():
    model = ac.compile(ColdStore())
    result = model.simulate(until=DAY, points=2881)
    tell(result)
    pictures(result)

    for less in (0.0, *LEAKS):
        print(
            "{:.2f} kg less: the compressor runs for {:.0%} of 4 h, then goods are at {:.2f} °C.".format(less, *leak(model, less))
        )
    return result


if __name__ == "__main__":
    main()
