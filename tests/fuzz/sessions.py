"""Random automata and relations in a session: advanced in random parts, saved, restored, pickled, against the closed form.

What a run does must not depend on where it was looked at. The automata and expressions are those of `automata` and `relations`,
whose trajectories are known; a session goes through them in parts of any length, goes too far and back to what was saved, and is
saved at the instants of events, too.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

import acausal as ac

from . import automata, relations


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    return _automaton(seed) if seed % 2 else _relations(seed)


def _walk(session: Any, rng: np.random.Generator, stops: list[float]) -> Any:
    """A session that has passed all stops; now and then it goes further and comes back, or is pickled on the way."""
    for k, stop in enumerate(stops):
        session.advance(stop)
        if rng.random() < 0.3:
            saved = session.save()
            saved = pickle.loads(pickle.dumps(saved)) if rng.random() < 0.5 else saved
            session.advance(stops[min(k + 2, len(stops) - 1)] + 0.0)
            session = session.restore(saved)
    return session


def _stops(rng: np.random.Generator, until: float, special: list[float]) -> list[float]:
    chosen = [t for t in special if 0.0 < t < until and rng.random() < 0.3]
    return sorted({*rng.uniform(0.0, until, int(rng.integers(2, 9))).tolist(), *chosen, until})


def _automaton(seed: int) -> str:
    rng = np.random.default_rng(seed)
    while True:
        automaton = automata.draw(seed)
        try:
            told, end = automaton.trajectory()
            break
        except automata.Ambiguous:
            seed += 1_000_000_007
    session = ac.compile(automata.component(automaton)).start(rtol=1e-8)
    session = _walk(session, rng, _stops(rng, automata.UNTIL, [t for t, _ in told]))
    here = np.array([session["x"], session["y"]])
    if np.allclose(here, end, atol=1e-5):
        return "run"
    return f"ends at {here}, wanted {end}, draw({seed})"


def _relations(seed: int) -> str:
    rng = np.random.default_rng(seed)
    component, values, texts, _ = relations.draw(seed)
    session = ac.compile(component).start(rtol=1e-8, max_step=0.02)
    for stop in _stops(rng, relations.UNTIL, []):
        session = _walk(session, rng, [stop])
        near = [values(np.array([stop + d])) for d in (-relations._NEAR, 0.0, relations._NEAR)]
        for name in near[1]:
            low, here, high = (float(v[name][0]) for v in near)
            if name == "time" or abs(high - low) > 50 * relations._NEAR:
                continue
            if abs(float(session[name]) - here) > 1e-5:
                return f"{name} is {float(session[name]):.6g} at {stop:g}, wanted {here:.6g}: {'; '.join(texts)}"
    return "run"
