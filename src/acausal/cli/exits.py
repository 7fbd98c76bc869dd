"""Exit codes, so that scripts can tell what happened."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The values are promised to scripts; never change them."""

    FINE = 0
    MODEL = 1  # the model is wrong: it does not import, translate or start
    USAGE = 2  # the command line is wrong: a name, a file or a value that cannot be
    STOPPED = 3  # the run stopped before its end; what was computed is reported, plotted and written
    NOT_WRITTEN = 4  # the run is fine, but a file could not be written where it was wanted
    FAULT = 70  # a fault of this program
    INTERRUPTED = 130  # Ctrl-C; what a run computed until then is reported, plotted and written


EPILOG = (
    "Exit codes: 0 fine · 1 the model is wrong · 2 the command line is wrong · 3 the run stopped early · "
    "4 a file could not be written · 70 a fault of this program · 130 Ctrl-C"
)
