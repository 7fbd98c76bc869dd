"""World3: population, capital, food, resources and pollution of the world from 1900 to 2100 (The Limits to Growth).

The model of Meadows and others in its edition of 2003 (Limits to Growth: The 30-Year Update), which has 41 states, and in that of
1974 (Dynamics of Growth in a Finite World), which has the same structure with other tables. Names are those of the books: `pop`
persons, `iopc` industrial output per head and year in dollars of 1968, `fpc` food per head and year in kilograms of grain, `nrfr`
what is left of the resources, `ppolx` persistent pollution over that of 1970, `le` life expectancy. Time is in years.

    python examples/world3.py               # the reference run of 2003
    python examples/world3.py 1974

Scenarios of the book are parameters: twice the resources is `World3(resources=Resources(nri=2e12))`; technology against
pollution from 2002 on is `World3(pollution=Pollution(effort=0.04, policy_year=2002.0))`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac

NEVER = 4000.0  # a year


def table(low: float, high: float, *values: float) -> ac.Table:
    """A graphical function: straight lines between points at equal distances, held beyond them."""
    return ac.Table(np.linspace(low, high, len(values)), values, method="linear")


def variables(count: int) -> Iterator[ac.Variable]:
    """As many variables as there are names on the left."""
    return (ac.Variable() for _ in range(count))


def inputs(count: int) -> Iterator[ac.Input]:
    return (ac.Input(1.0) for _ in range(count))


def since(year: Any, after: Any, before: Any) -> Any:
    """What holds from a year on, and what held before it."""
    return ac.where(ac.time >= year, after, before)


class Smooth(ac.Component):
    """A delay of information, of first order: ``delay·dy/dt = u - y``."""

    u, y = ac.Input(1.0), ac.Output()
    delay = ac.Parameter(1.0)

    def equations(self) -> Iterator[Any]:
        yield self.delay * ac.der(self.y) == self.u - self.y


class Smooth3(ac.Component):
    """A delay of third order. At the start it holds `first` times what enters."""

    u, y = ac.Input(1.0), ac.Output()
    x = ac.Variable(shape=3)
    delay, first = ac.Parameter(1.0), ac.Parameter(1.0)

    def equations(self) -> Iterator[Any]:
        yield self.delay / 3 * ac.der(self.x[0]) == self.u - self.x[0]
        yield self.delay / 3 * ac.der(self.x[1:]) == self.x[:-1] - self.x[1:]
        yield self.y == self.x[2]

    def initial_equations(self) -> Iterator[Any]:
        yield self.x == self.first * self.u


class Population(ac.Component):
    """Four ages, whom food, services, crowding and pollution let live, and income lets have children."""

    fpc, sopc, iopc, ppolx = inputs(4)
    p = ac.Variable(shape=4, start=[6.5e8, 7.0e8, 1.9e8, 6.0e7], fixed=True, doc="persons of 0-14, 15-44, 45-64, 65+ years")
    pop, workers, le, deaths, births = variables(5)
    lmf, hsapc, ehspc, lmhs, fpu, cmi, lmc, lmp = variables(8)
    tf, mtf, dtf, fm, cmple, ple, dcfs, sfsn, diopc, frsn, fie, aiopc, nfc, fce, fcfpc, fcapc, fsafc = variables(17)
    cdr, cbr = variables(2)
    m, d = ac.Variable(shape=4), ac.Variable(shape=4)
    mat = ac.Variable(shape=3)
    len_, sfpc, hsid, lpd, sad, ieat = (ac.Parameter(v) for v in (28.0, 230.0, 20.0, 20.0, 20.0, 3.0))
    dcfsn, mtfn, rlt = ac.Parameter(3.8), ac.Parameter(12.0), ac.Parameter(30.0)
    zero_growth_year, control_year, equilibrium_year = (ac.Parameter(NEVER) for _ in range(3))

    def __init__(self, edition: int = 2003) -> None:
        new = edition == 2003
        self.m_of_le = [
            table(20, 80, 0.0567, 0.0366, 0.0243, 0.0155, 0.0082, 0.0023, 0.001),
            table(20, 80, 0.0266, 0.0171, 0.0110, 0.0065, 0.0040, 0.0016, 0.0008),
            table(20, 80, 0.0562, 0.0373, 0.0252, 0.0171, 0.0118, 0.0083, 0.006),
            table(20, 80, 0.13, 0.11, 0.09, 0.07, 0.06, 0.05, 0.04),
        ]
        self.lmf_of = table(0, 5, *((0, 1, 1.43, 1.5, 1.5, 1.5) if new else (0, 1, 1.2, 1.3, 1.35, 1.4)))
        self.hsapc_of = table(0, 2000, 0, 20, 50, 95, 140, 175, 200, 220, 230)
        self.lmhs1_of = table(0, 100, 1, 1.1, 1.4, 1.6, 1.7, 1.8)
        self.lmhs2_of = table(0, 100, *((1, 1.5, 1.9, 2, 2, 2) if new else (1, 1.4, 1.6, 1.8, 1.95, 2)))
        self.fpu_of = table(0, 16e9, 0, 0.2, 0.4, 0.5, 0.58, 0.65, 0.72, 0.78, 0.8)
        self.cmi_of = table(0, 1600, 0.5, 0.05, -0.1, -0.08, -0.02, 0.05, 0.1, 0.15, 0.2)
        self.lmp_of = table(0, 100, 1, 0.99, 0.97, 0.95, 0.9, 0.85, 0.75, 0.65, 0.55, 0.4, 0.2)
        fm = (0, 0.2, 0.4, 0.6, 0.7, 0.75, 0.79, 0.84, 0.87) if new else (0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.05, 1.1)
        self.fm_of = table(0, 80, *fm)
        self.cmple_of = table(0, 80, 3, 2.1, 1.6, 1.4, 1.3, 1.2, 1.1, 1.05, 1)
        self.sfsn_of = table(0, 800, *((1.25, 0.94, 0.715, 0.59, 0.5) if new else (1.25, 1, 0.9, 0.8, 0.75)))
        self.frsn_of = table(-0.2, 0.2, 0.5, 0.6, 0.7, 0.85, 1)
        self.fce_of = table(0, 3, 0.75, 0.85, 0.9, 0.95, 0.98, 0.99, 1)
        self.fsafc_of = table(0, 10, 0, 0.005, 0.015, 0.025, 0.03, 0.035)
        self.health, self.income = Smooth(delay=self.hsid), Smooth(delay=self.ieat)
        self.lives, self.norm, self.facilities = Smooth3(delay=self.lpd), Smooth3(delay=self.sad), Smooth3(delay=self.hsid)

    def equations(self) -> Iterator[Any]:
        yield from self.ages()
        yield from self.life()
        yield from self.fertility()

    def ages(self) -> Iterator[Any]:
        p, d, mat = self.p, self.d, self.mat
        yield self.pop == ac.sum(p)
        yield self.workers == p[1] + p[2]
        for k in range(4):
            yield self.m[k] == self.m_of_le[k](self.le)
        yield d == p * self.m
        yield mat == p[:3] * (1 - self.m[:3]) / np.array([15.0, 30.0, 20.0])
        yield self.deaths == ac.sum(d)
        grown = 0.5 * self.tf * p[1] / self.rlt
        yield self.births == since(self.equilibrium_year, self.deaths, grown)
        yield ac.der(p[0]) == self.births - d[0] - mat[0]
        yield ac.der(p[1:3]) == mat[:2] - d[1:3] - mat[1:]
        yield ac.der(p[3]) == mat[2] - d[3]
        yield self.cdr == 1000 * self.deaths / self.pop
        yield self.cbr == 1000 * self.births / self.pop

    def life(self) -> Iterator[Any]:
        yield self.le == self.len_ * self.lmf * self.lmhs * self.lmp * self.lmc
        yield self.lmf == self.lmf_of(self.fpc / self.sfpc)
        yield self.hsapc == self.hsapc_of(self.sopc)
        yield self.health.u == self.hsapc
        yield self.ehspc == self.health.y
        yield self.lmhs == since(1940.0, self.lmhs2_of(self.ehspc), self.lmhs1_of(self.ehspc))
        yield self.fpu == self.fpu_of(self.pop)
        yield self.cmi == self.cmi_of(self.iopc)
        yield self.lmc == 1 - self.cmi * self.fpu
        yield self.lmp == self.lmp_of(self.ppolx)

    def fertility(self) -> Iterator[Any]:
        yield self.tf == ac.min(self.mtf, self.mtf * (1 - self.fce) + self.dtf * self.fce)
        yield self.mtf == self.mtfn * self.fm
        yield self.fm == self.fm_of(self.le)
        yield self.dtf == self.dcfs * self.cmple
        yield self.cmple == self.cmple_of(self.ple)
        yield self.lives.u == self.le
        yield self.ple == self.lives.y
        yield self.dcfs == since(self.zero_growth_year, 2.0, self.dcfsn * self.frsn * self.sfsn)
        yield self.sfsn == self.sfsn_of(self.diopc)
        yield self.norm.u == self.iopc
        yield self.diopc == self.norm.y
        yield self.frsn == self.frsn_of(self.fie)
        yield self.fie == (self.iopc - self.aiopc) / self.aiopc
        yield self.income.u == self.iopc
        yield self.aiopc == self.income.y
        yield self.nfc == self.mtf / self.dtf - 1
        yield self.fce == since(self.control_year, 1.0, self.fce_of(self.fcfpc))
        yield self.facilities.u == self.fcapc
        yield self.fcfpc == self.facilities.y
        yield self.fcapc == self.fsafc * self.sopc
        yield self.fsafc == self.fsafc_of(self.nfc)

    def initial_equations(self) -> Iterator[Any]:
        yield self.ehspc == self.hsapc
        yield self.aiopc == self.iopc


class Capital(ac.Component):
    """Industrial and service capital, what they make, and the work they need."""

    pop, workers, fioaa, fcaor, aiph, al, nruf, lymt, ppgf = inputs(9)
    ic, sc = ac.Variable(start=2.1e11, fixed=True), ac.Variable(start=1.44e11, fixed=True)
    io, iopc, so, sopc, icor, icdr, icir, scdr, scir = variables(9)
    fioai, fioac, fioas, isopc, cuf = variables(5)
    jobs, pjis, pjas, pjss, jpicu, jpscu, jph, lf, luf, lufd = variables(10)
    alic, alsc, scor, fioac1, lfpf, iopcd = (ac.Parameter(v) for v in (14.0, 20.0, 1.0, 0.43, 0.75, 400.0))
    policy_year, stable_output_year = ac.Parameter(NEVER), ac.Parameter(NEVER)

    def __init__(self) -> None:
        self.icor_resources = table(0, 1, 3.75, 3.6, 3.47, 3.36, 3.25, 3.16, 3.1, 3.06, 3.02, 3.01, 3)
        self.icor_yield = table(1, 2, 1, 1.05, 1.12, 1.25, 1.35, 1.5)
        self.icor_pollution = table(0, 1, 1.25, 1.2, 1.15, 1.11, 1.08, 1.05, 1.03, 1.02, 1.01, 1, 1)
        self.fioacv_of = table(0, 2, 0.3, 0.32, 0.34, 0.36, 0.38, 0.43, 0.73, 0.77, 0.81, 0.82, 0.83)
        self.isopc_of = table(0, 1600, 40, 300, 640, 1000, 1220, 1450, 1650, 1800, 2000)
        self.fioas_of = table(0, 2, 0.3, 0.2, 0.1, 0.05, 0)
        self.jpicu_of = table(50, 800, 0.37e-3, 0.18e-3, 0.12e-3, 0.09e-3, 0.07e-3, 0.06e-3)
        self.jpscu_of = table(50, 800, 1.1e-3, 0.6e-3, 0.35e-3, 0.2e-3, 0.15e-3, 0.15e-3)
        self.jph_of = table(2, 30, 2, 0.5, 0.4, 0.3, 0.27, 0.24, 0.2, 0.2)
        self.cuf_of = table(1, 11, 1, 0.9, 0.7, 0.3, 0.1, 0.1)
        self.utilisation = Smooth(delay=2.0)

    def equations(self) -> Iterator[Any]:
        yield from self.industry()
        yield from self.services()
        yield from self.work()

    def industry(self) -> Iterator[Any]:
        yield self.iopc == self.io / self.pop
        yield self.io == self.ic * (1 - self.fcaor) * self.cuf / self.icor
        costly = self.icor_resources(self.nruf) * self.icor_yield(self.lymt) * self.icor_pollution(self.ppgf)
        yield self.icor == since(self.policy_year, costly, 3.0)
        yield ac.der(self.ic) == self.icir - self.icdr
        yield self.icdr == self.ic / self.alic
        yield self.icir == self.io * self.fioai
        yield self.fioai == 1 - self.fioaa - self.fioas - self.fioac
        yield self.fioac == since(self.stable_output_year, self.fioacv_of(self.iopc / self.iopcd), self.fioac1)

    def services(self) -> Iterator[Any]:
        yield self.isopc == self.isopc_of(self.iopc)
        yield self.fioas == self.fioas_of(self.sopc / self.isopc)
        yield self.scir == self.io * self.fioas
        yield ac.der(self.sc) == self.scir - self.scdr
        yield self.scdr == self.sc / self.alsc
        yield self.so == self.sc * self.cuf / self.scor
        yield self.sopc == self.so / self.pop

    def work(self) -> Iterator[Any]:
        yield self.jobs == self.pjis + self.pjas + self.pjss
        yield self.pjis == self.ic * self.jpicu
        yield self.jpicu == self.jpicu_of(self.iopc)
        yield self.pjss == self.sc * self.jpscu
        yield self.jpscu == self.jpscu_of(self.sopc)
        yield self.pjas == self.jph * self.al
        yield self.jph == self.jph_of(self.aiph)
        yield self.lf == self.workers * self.lfpf
        yield self.luf == self.jobs / self.lf
        yield self.utilisation.u == self.luf
        yield self.lufd == self.utilisation.y
        yield self.cuf == self.cuf_of(self.lufd)

    def initial_equations(self) -> Iterator[Any]:
        yield self.lufd == 1.0


class Agriculture(ac.Component):
    """Land that is cleared, tilled, worn out, built upon and cared for; and the food that it bears."""

    pop, io, iopc, ppolx = inputs(4)
    al, pal = ac.Variable(start=0.9e9, fixed=True), ac.Variable(start=2.3e9, fixed=True)
    uil, lfert = ac.Variable(start=8.2e6, fixed=True), ac.Variable(start=600.0, fixed=True)
    tech = ac.Variable(start=1.0, fixed=True, doc="yield that technology could give")
    ai, pfr, lymt = variables(3)
    f, fpc, fr, ifpc, tai, fioaa, ldr, dcph, cai, aiph, lymc, ly, lymap, fiald, mpld, mpai, mlymc = variables(17)
    lfc, life, llmy, ler, uilpc, uilr, lrui, lfdr, lfd, lfr, lfrt, falm = variables(12)
    palt, lfh, lost, alai, io70, sd, uildt, ilf, fspd, sfpc = (
        ac.Parameter(v) for v in (3.2e9, 0.7, 0.1, 2.0, 7.9e11, 0.07, 10.0, 600.0, 2.0, 230.0)
    )
    alln = ac.Parameter(1000.0, doc="how long land lasts if it bears what it bore at first, in years")
    effort, wanted, tdd = ac.Parameter(0.0, doc="growth of the technology, per year"), ac.Parameter(2.0), ac.Parameter(20.0)
    policy_year, air_year, land_year = (ac.Parameter(NEVER) for _ in range(3))

    def __init__(self, edition: int = 2003) -> None:
        rich = (6.9, 7.2, 7.4, 7.6, 7.8, 8, 8.2, 8.4, 8.6, 8.8, 9, 9.2, 9.4, 9.6, 9.8, 10)
        new, old = (1, 3, 4.5, 5, 5.3, 5.6, 5.9, 6.1, 6.35, 6.6), (1, 3, 3.8, 4.4, 4.9, 5.4, 5.7, 6.0, 6.3, 6.6)
        self.lymc_of = table(0, 1000, *(new if edition == 2003 else old), *rich)
        self.ifpc_of = table(0, 1600, 230, 480, 690, 850, 970, 1070, 1150, 1210, 1250)
        self.fioaa_of = table(0, 2.5, 0.4, 0.2, 0.1, 0.025, 0, 0)
        self.dcph_of = table(0, 1, 1e5, 7400, 5200, 3500, 2400, 1500, 750, 300, 150, 75, 50)
        self.lymap1_of, self.lymap2_of = table(0, 30, 1, 1, 0.7, 0.4), table(0, 30, 1, 1, 0.98, 0.95)
        self.fiald_of = table(0, 2, 0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 1)
        self.mlymc_of = table(0, 600, 0.075, 0.03, 0.015, 0.011, 0.009, 0.008, 0.007, 0.006, *[0.005] * 8)
        self.llmy1_of = table(0, 9, 1.2, 1, 0.63, 0.36, 0.16, 0.055, 0.04, 0.025, 0.015, 0.01)
        self.llmy2_of = table(0, 9, 1.2, 1, 0.63, 0.36, 0.29, 0.26, 0.24, 0.22, 0.21, 0.2)
        self.uilpc_of = table(0, 1600, 0.005, 0.008, 0.015, 0.025, 0.04, 0.055, 0.07, 0.08, 0.09)
        self.lfdr_of, self.lfrt_of = table(0, 30, 0, 0.1, 0.3, 0.5), table(0, 0.1, 20, 13, 8, 4, 2, 2)
        self.falm_of = table(0, 4, 0, 0.04, 0.07, 0.09, 0.1)
        self.inputs_, self.perceived = Smooth(delay=self.alai), Smooth(delay=self.fspd)
        self.practice = Smooth3(delay=self.tdd)

    def equations(self) -> Iterator[Any]:
        yield from self.food()
        yield from self.investment()
        yield from self.land()

    def food(self) -> Iterator[Any]:
        yield self.f == self.ly * self.al * self.lfh * (1 - self.lost)
        yield self.fpc == self.f / self.pop
        yield self.fr == self.fpc / self.sfpc
        yield self.ly == self.lymt * self.lfert * self.lymc * self.lymap
        yield self.lymc == self.lymc_of(self.aiph)
        yield self.lymap == since(self.air_year, self.lymap2_of(self.io / self.io70), self.lymap1_of(self.io / self.io70))
        yield self.aiph == self.ai * (1 - self.falm) / self.al
        hurry = self.effort * ac.min(ac.max(self.wanted - self.fr, 0.0), 1.0)
        yield ac.der(self.tech) == since(self.policy_year, self.tech * hurry, 0.0)
        yield self.practice.u == self.tech
        yield self.lymt == since(self.policy_year, self.practice.y, 1.0)

    def investment(self) -> Iterator[Any]:
        yield self.ifpc == self.ifpc_of(self.iopc)
        yield self.fioaa == self.fioaa_of(self.fpc / self.ifpc)
        yield self.tai == self.io * self.fioaa
        yield self.dcph == self.dcph_of(self.pal / self.palt)
        yield self.ldr == self.tai * self.fiald / self.dcph
        yield self.cai == self.tai * (1 - self.fiald)
        yield self.inputs_.u == self.cai
        yield self.ai == self.inputs_.y
        yield self.fiald == self.fiald_of(self.mpld / self.mpai)
        yield self.mpld == self.ly / (self.dcph * self.sd)
        yield self.mpai == self.alai * self.ly * self.mlymc / self.lymc
        yield self.mlymc == self.mlymc_of(self.aiph)
        yield self.falm == self.falm_of(self.pfr)
        yield self.perceived.u == self.fr
        yield self.pfr == self.perceived.y

    def land(self) -> Iterator[Any]:
        yield self.lfc == self.al / self.palt
        yield ac.der(self.al) == self.ldr - self.ler - self.lrui
        yield ac.der(self.pal) == -self.ldr
        yield self.ler == self.al / self.life
        yield self.life == self.alln * self.llmy
        careless, careful = self.llmy1_of(self.ly / self.ilf), self.llmy2_of(self.ly / self.ilf)
        slowly = ac.exp(np.log(0.95) * ac.max(ac.time - self.land_year, 0.0))
        yield self.llmy == slowly * careless + (1 - slowly) * careful
        yield self.uilpc == self.uilpc_of(self.iopc)
        yield self.uilr == self.uilpc * self.pop
        yield self.lrui == ac.max(0.0, (self.uilr - self.uil) / self.uildt)
        yield ac.der(self.uil) == self.lrui
        yield ac.der(self.lfert) == self.lfr - self.lfd
        yield self.lfdr == self.lfdr_of(self.ppolx)
        yield self.lfd == self.lfert * self.lfdr
        yield self.lfr == (self.ilf - self.lfert) / self.lfrt
        yield self.lfrt == self.lfrt_of(self.falm)

    def initial_equations(self) -> Iterator[Any]:
        yield self.ai == 5e9
        yield self.pfr == 1.0


class Resources(ac.Component):
    """What is dug up once; the less is left, the more capital it takes."""

    pop, iopc, io = inputs(3)
    nri = ac.Parameter(1e12, doc="what there was in 1900")
    nr = ac.Variable(start=nri, fixed=True)
    tech = ac.Variable(start=1.0, fixed=True, doc="use that technology could bring down")
    nrur, nrfr, pcrum, fcaor, nruf, intensity = variables(6)
    effort, wanted, tdd = ac.Parameter(0.0, doc="fall of the use, per year"), ac.Parameter(4.8e9), ac.Parameter(20.0)
    policy_year, access_year = ac.Parameter(NEVER), ac.Parameter(NEVER)

    def __init__(self, edition: int = 2003) -> None:
        new, old = (3.4, 3.8, 4.1, 4.4, 4.7, 5), (4.4, 5.4, 6.2, 6.8, 7, 7)
        self.pcrum_of = table(0, 1600, 0, 0.85, 2.6, *(new if edition == 2003 else old))
        self.fcaor1_of = table(0, 1, 1, 0.9, 0.7, 0.5, 0.2, 0.1, *[0.05] * 5)
        self.fcaor2_of = table(0, 1, 1, 0.2, 0.1, *[0.05] * 8)
        self.practice = Smooth3(delay=self.tdd)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.nr) == -self.nrur
        yield self.nrur == self.pop * self.pcrum * self.nruf
        yield self.pcrum == self.pcrum_of(self.iopc)
        yield self.nrfr == self.nr / self.nri
        yield self.fcaor == since(self.access_year, self.fcaor2_of(self.nrfr), self.fcaor1_of(self.nrfr))
        hurry = self.effort * ac.min(ac.max(self.nrur / self.wanted - 1, 0.0), 1.0)
        yield ac.der(self.tech) == since(self.policy_year, -self.tech * hurry, 0.0)
        yield self.practice.u == self.tech
        yield self.nruf == since(self.policy_year, self.practice.y, 1.0)
        yield self.intensity == self.nrur / self.io


class Pollution(ac.Component):
    """What industry and farming leave behind, twenty years later."""

    pop, pcrum, aiph, al, io = inputs(5)
    ppol = ac.Variable(start=2.5e7, fixed=True)
    tech = ac.Variable(start=1.0, fixed=True, doc="pollution that technology could bring down")
    ppgr, ppgf, ppgio, ppgao, ppapr, ppolx, ppasr, ahl, ahlm, intensity = variables(10)
    frpm, imef, imti, fipm, amti, pptd, ppol70, ahl70 = (ac.Parameter(v) for v in (0.02, 0.1, 10.0, 0.001, 1.0, 20.0, 1.36e8, 1.5))
    effort, wanted, tdd = ac.Parameter(0.0, doc="fall of the pollution, per year"), ac.Parameter(1.2), ac.Parameter(20.0)
    policy_year = ac.Parameter(NEVER)

    def __init__(self, edition: int = 2003) -> None:
        self.ahlm_of = table(1, 1001, 1, 11, 21, 31, 41)
        self.transit = Smooth3(delay=self.pptd, first=0.0 if edition == 2003 else 3 / 20)
        self.practice = Smooth3(delay=self.tdd)

    def equations(self) -> Iterator[Any]:
        yield self.ppgr == (self.ppgio + self.ppgao) * self.ppgf
        yield self.ppgio == self.pcrum * self.pop * self.frpm * self.imef * self.imti
        yield self.ppgao == self.aiph * self.al * self.fipm * self.amti
        yield self.transit.u == self.ppgr
        yield self.ppapr == self.transit.y
        yield ac.der(self.ppol) == self.ppapr - self.ppasr
        yield self.ppolx == self.ppol / self.ppol70
        yield self.ppasr == self.ppol / (1.4 * self.ahl)
        yield self.ahl == self.ahl70 * self.ahlm
        yield self.ahlm == self.ahlm_of(self.ppolx)
        hurry = self.effort * ac.min(ac.max(self.ppolx / self.wanted - 1, 0.0), 1.0)
        yield ac.der(self.tech) == since(self.policy_year, -self.tech * hurry, 0.0)
        yield self.practice.u == self.tech
        yield self.ppgf == since(self.policy_year, self.practice.y, 1.0)
        yield self.intensity == self.ppgio * self.ppgf / self.io


class Indicators(ac.Component):
    """How people fare and what land they take (of 2003)."""

    le, iopc, al, uil, ppgr, io, so, f, pop = inputs(9)
    hwi, lei, ei, gdpi, gdppc, hef, absorption = variables(7)
    ciopc, share_food, share_services, share_industry = variables(4)

    def __init__(self) -> None:
        self.lei_of = table(25, 85, 0, 0.16, 0.33, 0.5, 0.67, 0.84, 1)
        self.ei_of = table(0, 7000, 0, 0.81, 0.88, 0.92, 0.95, 0.98, 0.99, 1)
        self.gdppc_of = table(0, 1000, 120, 600, 1200, 1800, 2500, 3200)

    def equations(self) -> Iterator[Any]:
        yield self.lei == self.lei_of(self.le)
        yield self.gdppc == self.gdppc_of(self.iopc)
        yield self.ei == self.ei_of(self.gdppc)
        yield self.gdpi == ac.log(self.gdppc / 24.0) / np.log(9508.0 / 24.0)
        yield self.hwi == (self.lei + self.ei + self.gdpi) / 3
        yield self.absorption == 4.0 * self.ppgr / 1e9
        yield self.hef == (self.al / 1e9 + self.uil / 1e9 + self.absorption) / 1.91
        output = 0.22 * self.f + self.so + self.io
        yield self.share_food == 0.22 * self.f / output
        yield self.share_services == self.so / output
        yield self.share_industry == self.io / output
        yield self.ciopc == 0.43 * self.io / self.pop


class World3(ac.Component):
    """The sectors and what they tell each other."""

    year = ac.Independent(unit="year")

    def __init__(self, edition: int = 2003, resources: Resources | None = None, pollution: Pollution | None = None) -> None:
        self.population = Population(edition=edition, dcfsn=3.8 if edition == 2003 else 4.0)
        self.capital = Capital()
        self.agriculture = Agriculture(edition=edition, alln=1000.0 if edition == 2003 else 6000.0)
        self.resources = resources or Resources(edition=edition)
        self.pollution = pollution or Pollution(edition=edition)
        self.indicators = Indicators()

    def connections(self) -> Iterator[Any]:
        people, capital, land = self.population, self.capital, self.agriculture
        mines, waste, seen = self.resources, self.pollution, self.indicators
        yield people.pop, capital.pop, land.pop, mines.pop, waste.pop, seen.pop
        yield people.workers, capital.workers
        yield people.le, seen.le
        yield capital.io, land.io, mines.io, waste.io, seen.io
        yield capital.iopc, people.iopc, land.iopc, mines.iopc, seen.iopc
        yield capital.sopc, people.sopc
        yield capital.so, seen.so
        yield land.fpc, people.fpc
        yield land.fioaa, capital.fioaa
        yield land.aiph, capital.aiph, waste.aiph
        yield land.al, capital.al, waste.al, seen.al
        yield land.uil, seen.uil
        yield land.f, seen.f
        yield land.lymt, capital.lymt
        yield mines.fcaor, capital.fcaor
        yield mines.nruf, capital.nruf
        yield mines.pcrum, waste.pcrum
        yield waste.ppolx, people.ppolx, land.ppolx
        yield waste.ppgf, capital.ppgf
        yield waste.ppgr, seen.ppgr


model = World3


def main(edition: int = 2003) -> Any:
    """The reference run, and the picture that made the model famous."""
    result = ac.compile(World3(edition=edition)).simulate(until=2100.0, start=1900.0, every=0.5)
    names = ("population.pop", "resources.nrfr", "agriculture.fpc", "capital.iopc", "pollution.ppolx")
    result.plot(panels=list(names), file=f"world3_{edition}.png", title=f"World3, edition of {edition}")
    return result


if __name__ == "__main__":
    edition = int(sys.argv[1]) if len(sys.argv) > 1 else 2003
    result = main(edition)
    people = result["population.pop"]
    top = int(np.argmax(people))
    print(f"World3, edition of {edition}: most people in {result.time[top]:.0f}, {people[top] / 1e9:.2f} thousand million;")
    print(f"in 2100 there are {people[-1] / 1e9:.2f} thousand million, and {result['resources.nrfr'][-1]:.0%} of the resources.")
