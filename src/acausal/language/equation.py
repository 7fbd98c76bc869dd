"""An equation: two sides that are equal, and the place where that was said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Location, ShapeError, UsageError
from ..records import dataclass
from .expression import Expression, Shape, as_expression


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """`lhs == rhs`, element by element where they are arrays."""

    lhs: Expression
    rhs: Expression
    location: Location | None = None
    name: str = ""

    @staticmethod
    def stated(lhs: Expression, rhs: Any, location: Location) -> Equation:
        right = as_expression(rhs)
        try:
            if lhs.shape != right.shape:
                np.broadcast_shapes(lhs.shape, right.shape)
        except ValueError:
            raise ShapeError(
                f"The two sides of an equation have different lengths: {lhs.shape} on the left, {right.shape} on the right.",
                equation=location.source,
                location=location,
                remedy="Compare the slices on both sides; a scalar may stand on either side of an array.",
            ) from None
        return Equation(lhs, right, location)

    @property
    def shape(self) -> Shape:
        left, right = self.lhs.shape, self.rhs.shape
        return left if left == right else np.broadcast_shapes(left, right)

    @property
    def residual(self) -> Expression:
        return self.lhs - self.rhs

    def named(self, name: str) -> Equation:
        return replace(self, name=name)

    def __bool__(self) -> bool:
        raise UsageError(
            "An equation is stated with `yield`, it is not true or false. Compare numbers, or use `ac.where`.",
            remedy="A comparison within an equation stands in parentheses: `self.on == (self.T < 295)`.",
        )

    def __str__(self) -> str:
        return self.location.source if self.location and self.location.source else f"{self.lhs} == {self.rhs}"
