"""`acausal solvers`."""

from __future__ import annotations

from acausal.runtime.solver import find_solver

from .conftest import Call


def test_every_option_of_every_solver_is_listed(call: Call) -> None:
    out = call("solvers").out
    for name in ("ida", "sundae"):
        for option in find_solver(name).options:
            assert option.name in out and option.doc in out


def test_for_programs(call: Call) -> None:
    told = {solver["name"]: solver for solver in call("solvers", "--json").json}
    order = next(option for option in told["ida"]["options"] if option["name"] == "max_order")
    assert (order["type"], order["default"], order["minimum"], order["maximum"]) == ("int", 5, 1, 5)
