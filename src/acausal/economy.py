"""What a process needs from its first moment on, without what takes long to import.

`hashlib` starts OpenSSL, of which nothing here is used: the digests below are Python's own. Garbage is not looked for while objects
are made by the ten thousand.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b as blake2b
    from hmac import compare_digest as compare_digest
else:
    try:  # where `hashlib` and `hmac` have them from
        from _blake2 import blake2b
        from _operator import _compare_digest as compare_digest
    except ImportError:  # another Python
        from hashlib import blake2b
        from hmac import compare_digest

__all__ = ["blake2b", "compare_digest", "uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Reading and translating make objects by the ten thousand, and hardly any garbage: nobody looks for it meanwhile.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
