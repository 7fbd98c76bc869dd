"""One module says what page and server say to each other; the page's types are generated from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acausal.studio import typescript
from acausal.studio.protocol import packed, unpacked

TYPES = Path(__file__).parents[2] / "studio" / "src" / "protocol.ts"


def test_the_types_of_the_page_are_those_of_the_protocol() -> None:
    assert TYPES.read_text(encoding="utf-8") == "\n".join(typescript.lines()) + "\n", (
        "run: python -m acausal.studio.typescript > studio/src/protocol.ts"
    )


@given(
    st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.floats(allow_nan=False, allow_infinity=False))), st.binary()
)
def test_a_frame_is_what_was_packed_and_its_numbers_are_aligned(head: dict, numbers: bytes) -> None:
    frame = packed(head, numbers)
    found, rest = unpacked(frame)
    assert found == head and bytes(rest) == numbers
    assert (len(frame) - len(numbers)) % 8 == 0


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError):
        packed({"value": float("nan")})
