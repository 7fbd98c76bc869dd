"""Precompiled components behave as their classes do, to the bit, and show nothing of their source."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid
from acausal.library import thermal as th

from . import vendor_classes as vendor

CLASSES = (vendor.Valve, ac.variants(vendor.Rod, n=[3, 10], insulated=[False, True]), vendor.Heater)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("pack") / "vendor.acp"
    ac.pack(path, *CLASSES)
    return path


@pytest.fixture(scope="module")
def packed(file):
    return ac.load(file)


def tanks(valve, fluid):
    class Tank(ac.Component):
        port = fluid()
        p = ac.Variable(start=1e5, fixed=True, unit="Pa")

        def equations(self):
            yield self.port.p == self.p
            yield 1e-5 * ac.der(self.p) == self.port.m_flow

    class Plant(ac.Component):
        def __init__(self):
            self.full, self.empty, self.valve = Tank(p=ac.start(2e5)), Tank(), valve(K=2e-6)

        def connections(self):
            yield self.full.port, self.valve.a
            yield self.valve.b, self.empty.port

    return ac.compile(Plant(), units=False)


def rods(rod, n, insulated):
    class Plant(ac.Component):
        def __init__(self):
            self.rod = ac.array(rod, 4, n=n, insulated=insulated, G=np.array([1.0, 2.0, 3.0, 4.0]))
            self.hot, self.cold = th.FixedTemperature(T=400.0), th.FixedTemperature(T=300.0)

        def connections(self):
            yield self.hot.port, self.rod.left
            yield self.rod.right, self.cold.port

    return ac.compile(Plant())


def heated(heater):
    class Plant(ac.Component):
        def __init__(self):
            self.heater, self.room = heater(), th.HeatCapacitor(C=100.0)

        def connections(self):
            yield self.heater.port, self.room.port

    return ac.compile(Plant())


def same(ours, theirs, *names, **options):
    first, second = ours.simulate(**options), theirs.simulate(**options)
    assert first.outcome.ok and second.outcome.ok
    for name in names:
        np.testing.assert_array_equal(first[name], second[name])
    return first, second


def test_states_events_and_bound_parameters(packed):
    names = ("full.p", "valve.dp", "valve.K_shut", "valve.count")
    first, second = same(tanks(vendor.Valve, vendor.Fluid), tanks(packed.Valve, packed.Fluid), *names, until=20.0)
    assert (
        [i.state for i in second.states("valve.position")] == [i.state for i in first.states("valve.position")] == ["shut", "open"]
    )
    assert second["valve.count"][-1] == 1
    assert second.unit("valve.dp") == "Pa"


@pytest.mark.parametrize("insulated", [False, True])
@pytest.mark.parametrize("n", [3, 10])
def test_arrays_of_variants(packed, n, insulated):
    same(rods(vendor.Rod, n, insulated), rods(packed.Rod, n, insulated), "rod.cell.T", "rod.G", until=50.0)


def test_streams_and_connectors_within_connectors_in_another_process(tmp_path):
    ac.pack(tmp_path / "ducts.acp", vendor.Outlet, vendor.Box)
    script = tmp_path / "use.py"
    script.write_text(
        "import acausal as ac\n"
        f"k = ac.load({str(tmp_path / 'ducts.acp')!r})\n"
        "class Fan(ac.Component):\n"
        "    duct = k.Duct()\n"
        "    def equations(self):\n"
        "        yield self.duct.air.p == 1e5\n"
        "        yield self.duct.T == 300.0\n"
        "        yield self.duct.air.h.outflow == 7.0\n"
        "def use(part):\n"
        "    class Plant(ac.Component):\n"
        "        def __init__(self): self.fan, self.part = Fan(), part()\n"
        "        def connections(self): yield self.fan.duct, self.part.duct\n"
        "    return ac.compile(Plant(), units=False).simulate(until=1.0)\n"
        "a, b = use(k.Outlet), use(k.Box)\n"
        "print(a['part.duct.air.m_flow'][-1], a['part.duct.air.h.inflow'][-1])\n"
        "print(b['part.outlet.duct.air.h.inflow'][-1], b['fan.duct.Q_flow'][-1], k.Air.__name__)\n"
    )
    answer = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=True)
    *numbers, name = answer.stdout.split()
    assert list(map(float, numbers)) == pytest.approx([1.0, 7.0, 7.0, -600.0]) and name == "Air"


def test_lists_of_parts_and_tables(packed):
    inputs = {"heater.demand": 0.75}
    first, _ = same(heated(vendor.Heater), heated(packed.Heater), "room.T", "heater.stage[1].T", until=9.0, inputs=inputs)
    assert first["heater.stage[1].T"][0] == 310.0


def test_a_model_of_packed_components_is_a_model_like_any_other(packed, tmp_path):
    model = tanks(packed.Valve, packed.Fluid)
    model.save(tmp_path / "plant.acm")
    same(model, ac.load(tmp_path / "plant.acm"), "full.p", until=5.0)


def test_nothing_of_the_source_is_in_the_file(file):
    with zipfile.ZipFile(file) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    for word in (b"vendor_classes.py", b"self.", b"match(", b"yield"):
        assert word not in text
    assert b"trade secret" in text and b"flow coefficient" in text


def test_messages_name_the_component_and_the_equation(packed):
    told = str(tanks(packed.Valve, packed.Fluid).explain("valve.a.m_flow"))
    assert "trade secret" in told and "valve (Valve)" in told
    stated = told.partition("determined by")[2]
    assert "self" not in stated and "vendor_classes" not in stated
    assert " = " not in str(tanks(packed.Valve, packed.Fluid).explain("valve.dp")).split("determined by")[1].splitlines()[0]


def test_an_author_may_show_equations(tmp_path):
    ac.pack(tmp_path / "open.acp", vendor.Valve, show_equations=True)
    valve = ac.load(tmp_path / "open.acp").Valve
    told = str(tanks(valve, vendor.Fluid).explain("valve.b.m_flow"))
    assert "vendor_classes.py" in told


def test_another_process_without_the_source(file, tmp_path):
    script = tmp_path / "use.py"
    script.write_text(
        "import sys, acausal as ac\n"
        f"vendor = ac.load({str(file)!r})\n"
        "class Open(ac.Component):\n"
        "    port = vendor.Fluid()\n"
        "    p = ac.Parameter(1e5, unit='Pa')\n"
        "    def equations(self): yield self.port.p == self.p\n"
        "class Plant(ac.Component):\n"
        "    def __init__(self): self.a, self.b, self.valve = Open(p=1.3e5), Open(), vendor.Valve(K=3e-6)\n"
        "    def connections(self):\n"
        "        yield self.a.port, self.valve.a\n"
        "        yield self.valve.b, self.b.port\n"
        "print(ac.compile(Plant()).simulate(until=1.0)['valve.a.m_flow'][-1], 'tests.program.vendor_classes' in sys.modules)\n"
    )
    answer = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=True)
    value, imported = answer.stdout.split()
    assert float(value) == pytest.approx(0.09) and imported == "False"


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda p: p.Rod(n=5, insulated=False), "was packed for n=3, insulated=False"),
        (lambda p: p.Rod(n=3), "asked for with n=3"),
        (lambda p: p.Vlave, "Did you mean `Valve`"),
        (lambda p: p.Valve(KK=1.0), "Did you mean `K`"),
        (lambda p: ac.pack("x.acp"), "Nothing is to be packed"),
        (lambda p: ac.pack("x.acp", vendor.Rod), "Rod cannot be made of nothing"),
        (lambda p: ac.pack("x.acp", 3), "takes component classes"),
        (lambda p: ac.pack("x.acp", vendor.Valve, vendor.Valve), "Two classes are called `Valve`"),
    ],
)
def test_what_cannot_be_is_said(packed, use, said):
    with pytest.raises(ac.AcausalError, match=said):
        use(packed)


def test_a_damaged_file_is_refused(file, tmp_path):
    content = file.read_bytes()
    generator = np.random.default_rng(1)
    damaged = tmp_path / "damaged.acp"
    for _ in range(40):
        changed = bytearray(content)
        changed[int(generator.integers(len(content)))] ^= 1 << int(generator.integers(8))
        damaged.write_bytes(changed)
        try:
            found = ac.load(damaged)
        except ac.AcausalError as error:
            assert str(damaged) in str(error)
            continue
        assert set(found.classes) == {"Valve", "Rod", "Heater"}
    for length in (0, 20, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:length])
        with pytest.raises(ac.AcausalError):
            ac.load(damaged)


def test_a_model_file_is_not_a_file_of_components(tmp_path):
    from acausal.program.pack import load

    tanks(vendor.Valve, vendor.Fluid).save(tmp_path / "plant.acm")
    with pytest.raises(ac.AcausalError, match=r"plant\.acm"):
        load(tmp_path / "plant.acm")
    assert not Path("x.acp").exists()


class Restriction(fluid.Orifice):
    medium = ac.AnyMedium(ac.media.liquid("water"))


class Nozzle(fluid.Orifice):
    medium = ac.AnyMedium(ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21]))


class Gap(fluid.Orifice):
    medium = ac.AnyMedium(ac.media.ConstantMedium("oil", rho=850.0, cp=2000.0))


class Between(ac.Component):
    """A part between a source of a medium and a sink."""

    def __init__(self, part: Any, medium: Any) -> None:
        self.source, self.sink = fluid.PressureBoundary(medium=medium, p=2e5, T=300.0), fluid.PressureBoundary(p=1e5, T=300.0)
        self.hole = part

    def connections(self) -> Iterator[Any]:
        yield self.source.port, self.hole.a
        yield self.hole.b, self.sink.port


def test_a_component_that_was_packed_for_another_medium_is_refused(tmp_path: Path) -> None:
    """Its equations have the properties of the medium that it was packed with, whatever flows through it."""
    ac.pack(tmp_path / "holes.acp", Restriction)
    packed: Any = ac.load(tmp_path / "holes.acp")

    flow = float(ac.compile(Between(packed.Restriction(), ac.media.liquid("water"))).steady_state()["hole.m_flow"][0])
    assert flow == pytest.approx(0.65e-6 * (2 * 996.5 * 1e5) ** 0.5, rel=1e-3)
    with pytest.raises(ac.ModelError, match=r"was packed for Liquid water, and `hole\.a` carries Liquid MEG 30 %") as error:
        ac.compile(Between(packed.Restriction(), ac.media.liquid("MEG", 0.3)))
    assert "Connect it to a circuit of Liquid water" in str(error.value)


def test_a_medium_of_the_same_name_with_other_properties_is_another(tmp_path: Path) -> None:
    ac.pack(tmp_path / "holes.acp", Nozzle, Gap)
    packed: Any = ac.load(tmp_path / "holes.acp")
    gas, oil = ac.media.ideal_gas(["N2", "O2"], mole=[0.5, 0.5]), ac.media.ConstantMedium("oil", rho=900.0, cp=2000.0)
    with pytest.raises(ac.ModelError, match=r"packed for IdealGas N2 \+ O2 \(0\.767\d*, 0\.232\d*\), and `hole\.a` carries"):
        ac.compile(Between(packed.Nozzle(), gas))
    with pytest.raises(ac.ModelError, match=r"oil \(rho 850, cp 2000\), and `hole\.a` carries \w+ oil \(rho 900, cp 2000\)"):
        ac.compile(Between(packed.Gap(), oil))
    for part, cls in ((packed.Nozzle, Nozzle), (packed.Gap, Gap)):
        medium: Any = cls.medium.default
        flows = [ac.compile(Between(one(), medium)).steady_state()["hole.m_flow"][0] for one in (part, cls)]
        assert flows[0] == flows[1]
