"""Random signals as inputs: the same seed gives the same signal, in every process and on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from ..language.distributions import Distribution
from ..runtime.inputs import Steps
from ..runtime.storage import seconds

_MOST = 50_000_000


@checked
def random_signal(
    distribution: Distribution,
    until: float | str,
    *,
    every: float | str,
    seed: int = 0,
    correlation_time: float | str = 0.0,
    unit: str = "",
    start: float | str = 0.0,
) -> Steps:
    """An input that takes a new random value from time to time and keeps it until the next.

    distribution: what is drawn from: `ac.normal(20, 2)`, `ac.uniform(…)`, …; texts with units become numbers in `unit`.
    every: how long a value lasts. correlation_time: how long the signal remembers; 0: each value is drawn by itself. The values
        have the distribution either way (a normal process of that memory, through the distribution's own shape).

    >>> import acausal as ac
    >>> wind = ac.random_signal(ac.normal(8.0, 2.0, low=0.0), "1 h", every="10 s", seed=1, correlation_time="1 min")
    >>> len(wind.times), bool((wind.values >= 0).all())
    (361, True)
    """
    if not isinstance(distribution, Distribution):
        raise UsageError(f"A random signal needs a distribution, got {distribution!r}.", remedy="ac.normal(20.0, 2.0)")
    begin, end, step = (float(seconds(t, what)) for t, what in ((start, "start"), (until, "until"), (every, "every")))
    memory = float(seconds(correlation_time, "correlation_time"))
    if not step > 0 or not end > begin or memory < 0 or (end - begin) / step > _MOST:
        raise UsageError(
            f"A random signal has times that grow: from {begin:g} to {end:g}, every {step:g}, with a memory of {memory:g}.",
            remedy="`until` is after `start`, `every` is above zero and gives at most fifty million values, "
            "`correlation_time` is 0 or more.",
        )
    count = int(np.floor((end - begin) / step * (1 + 1e-12))) + 1
    times = np.asarray(begin + step * np.arange(count), dtype=np.float64)
    shares = _shares(len(times), seed, np.exp(-step / memory) if memory > 0 else 0.0)
    values: Any = distribution.in_unit(unit).at(shares)
    said = any(not isinstance(t, float | int | np.number) for t in (start, until, every))  # numbers are in the model's own unit
    return Steps(times, np.asarray(values, dtype=float), time_unit="s" if said else "")


def _shares(count: int, seed: int, kept: float) -> np.ndarray:
    """Evenly distributed numbers, each of which remembers a part of the one before."""
    from scipy.signal import lfilter
    from scipy.special import ndtr

    random = np.random.Generator(np.random.PCG64(seed))
    if kept == 0.0:
        return random.random(count)
    news = random.standard_normal(count) * np.sqrt(1 - kept**2)
    first = random.standard_normal()
    return np.asarray(ndtr(lfilter([1.0], [1.0, -kept], news, zi=[kept * first])[0]))
