"""The late `dataclass` against the standard one: the same classes, later."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from typing import Any, ClassVar

import pytest

from acausal.records import dataclass, field_names, is_dataclass

OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq} for frozen in (False, True) for slots in (False, True) for eq in (False, True)
]


def _made(decorator: Any, options: dict[str, bool]) -> tuple[type, type]:
    class Base:
        x: int
        known: ClassVar[int] = 3
        y: list[int] = dataclasses.field(default_factory=list)

        def twice(self) -> int:
            return 2 * self.x

    base = decorator(**options)(Base)

    class Derived(base):  # type: ignore[misc, valid-type]
        z: float = 1.5
        x: int = 7

        def __post_init__(self) -> None:
            object.__setattr__(self, "z", self.z + 1.0)

    return base, decorator(**options)(Derived)


def _described(cls: type, *args: Any, **named: Any) -> list[Any]:
    """What can be seen of a class and of one object of it; errors as their texts."""

    def seen(action: Any) -> Any:
        try:
            return action()
        except Exception as error:
            return type(error).__name__, str(error)

    def assign() -> Any:
        one = cls(*args, **named)
        one.x = 5
        return one.x

    make = lambda: cls(*args, **named)  # noqa: E731
    return [
        seen(lambda: repr(make())),
        seen(lambda: make() == make()),
        seen(lambda: (hash(make()) == hash(make())) if cls.__hash__ is not object.__hash__ else "by identity"),
        seen(assign),
        seen(lambda: cls.__match_args__),  # type: ignore[attr-defined]
        seen(lambda: [(f.name, f.default, f.init) for f in dataclasses.fields(cls)]),
        seen(lambda: repr(dataclasses.replace(make(), x=4))),
        seen(lambda: dataclasses.asdict(make())),
        seen(lambda: repr(copy.deepcopy(make()))),
        seen(lambda: hasattr(make(), "__dict__")),
        seen(lambda: make().twice()),
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(k for k, v in o.items() if v) or "none")
@pytest.mark.parametrize("args", [(), (3,), (3, (1,)), (3, (1,), 2.0), (3, (1,), 2.0, 9)])
def test_a_late_class_is_what_the_standard_decorator_makes(options, args):
    for ours, standard in zip(_made(dataclass, options), _made(dataclasses.dataclass, options), strict=True):
        assert _described(ours, *args) == _described(standard, *args)


def test_names_of_fields_are_known_before_anything_is_generated():
    base, derived = _made(dataclass, {"slots": True})
    assert field_names(derived) == ["x", "y", "z"] == [f.name for f in dataclasses.fields(derived)]
    assert is_dataclass(base) and not is_dataclass(int)


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 0.0


def test_a_frozen_one_with_slots_is_pickled():
    assert pickle.loads(pickle.dumps(Point(1.0))) == Point(1.0)


def test_keyword_only_fields_are_left_to_the_standard_decorator():
    @dataclass(slots=True)
    class Said:
        a: int
        b: int = dataclasses.field(default=2, kw_only=True)

    assert repr(Said(1, b=3)).endswith("Said(a=1, b=3)")
    with pytest.raises(TypeError, match="positional"):
        Said(1, 3)  # type: ignore[misc]


@pytest.mark.parametrize("slots", [False, True])
def test_fields_that_no_argument_gives(slots: bool):
    def made(decorator: Any) -> Any:
        class Kept:
            a: int
            b: int = dataclasses.field(init=False, default=2)
            c: list[int] = dataclasses.field(init=False, default_factory=list)
            d: int = dataclasses.field(init=False)
            e: int = 5

        return decorator(slots=slots)(Kept)

    for cls in (made(dataclass), made(dataclasses.dataclass)):
        one = cls(1, 4)
        assert (one.a, one.b, one.c, one.e, hasattr(one, "d")) == (1, 2, [], 4, False)
        assert cls(1).c is not cls(1).c


def test_the_first_and_the_many_are_alike():
    """The first objects are filled without an `__init__` of their own: with the same arguments, and the same errors."""
    for k in range(20):
        _, derived = _made(dataclass, {"frozen": True, "slots": True})
        for _ in range(k):
            derived(1)
        assert repr(derived(y=[2], x=1)).endswith("Derived(x=1, y=[2], z=2.5)")
        with pytest.raises(TypeError, match="got multiple values for argument 'x'"):
            derived(1, x=2)
        with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
            derived(w=2)
        assert list(inspect.signature(derived).parameters) == ["x", "y", "z"]


def test_threads_may_use_a_class_first_together():
    for _ in range(20):
        _, derived = _made(dataclass, {"frozen": True, "slots": True})
        made: list[str] = []
        threads = [threading.Thread(target=lambda cls=derived, made=made: made.append(repr(cls(1)))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(made) == 8 and len(set(made)) == 1
