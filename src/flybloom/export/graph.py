"""Builder of ONNX graphs: arithmetic with values adds nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from flybloom._internal.typing import Array

OPSET = 18
"""The version of the standard operators; the first that has all that is used (bitwise exclusive or)."""

TYPES = {"float32": 1, "int32": 6, "int64": 7, "float64": 11, "uint64": 13}
"""Types that values are cast to, as ONNX numbers them."""


class Sink(Protocol):
    """Receiver of nodes and constants: an own model, or that of skl2onnx."""

    def new_name(self, hint: str) -> str:
        """Return an unused name."""

    def add_node(self, op: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any]) -> None:
        """Add a node."""

    def add_constant(self, name: str, values: Array) -> None:
        """Add a constant."""


@dataclass(frozen=True)
class Value:
    """What a node makes; numbers and arrays become constants where they meet it."""

    graph: Graph
    name: str
    __array_ufunc__ = None  # a number of NumPy leaves arithmetic to the value

    def __add__(self, other: Any) -> Value:
        """Add."""
        return self.graph.node("Add", self, other)

    def __sub__(self, other: Any) -> Value:
        """Subtract."""
        return self.graph.node("Sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        """Subtract from a constant."""
        return self.graph.node("Sub", other, self)

    def __mul__(self, other: Any) -> Value:
        """Multiply."""
        return self.graph.node("Mul", self, other)

    def __truediv__(self, other: Any) -> Value:
        """Divide."""
        return self.graph.node("Div", self, other)

    def __neg__(self) -> Value:
        """Change the sign."""
        return self.graph.node("Neg", self)

    def cast(self, dtype: str) -> Value:
        """Return the values as another type."""
        return self.graph.node("Cast", self, to=TYPES[dtype])

    def clip(self, low: Any, high: Any) -> Value:
        """Return the values within limits."""
        return self.graph.node("Clip", self, low, high)

    def at(self, places: Any, axis: int = 1) -> Value:
        """Return the values at some places of an axis; one place drops the axis."""
        return self.graph.node("Gather", self, places, axis=axis)

    def sum(self, axis: int = 1, *, keepdims: int = 0) -> Value:
        """Return sums over an axis, in any order."""
        return self.graph.node("ReduceSum", self, [axis], keepdims=keepdims)

    def spread(self, axis: int) -> Value:
        """Return the values with another axis, of length 1."""
        return self.graph.node("Unsqueeze", self, [axis])

    def where(self, yes: Any, no: Any) -> Value:
        """Return one or the other value where this is true or not."""
        return self.graph.node("Where", self, yes, no)


class Graph:
    """Writes standard operators to a sink; each method returns its output."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._constants: dict[tuple[str, tuple[int, ...], bytes], Value] = {}

    def node(self, op: str, *inputs: Any, **attributes: Any) -> Value:
        """Add an operator, and return its output."""
        return self.nodes(op, *inputs, n_outputs=1, **attributes)[0]

    def nodes(self, op: str, *inputs: Any, n_outputs: int, **attributes: Any) -> list[Value]:
        """Add an operator, and return all its outputs."""
        names = [self.constant(value).name for value in inputs]
        outputs = [self._sink.new_name(op) for _ in range(n_outputs)]
        self._sink.add_node(op, names, outputs, attributes)
        return [Value(self, name) for name in outputs]

    def constant(self, values: Any) -> Value:
        """Add a constant, unless it is a value; small equal ones are shared."""
        if isinstance(values, Value):
            return values
        array = np.asarray(values)
        key = (
            array.dtype.str,
            array.shape,
            array.tobytes() if array.dtype != object else repr(array.tolist()).encode(),
        )
        if key not in self._constants:
            self._constants[key] = Value(self, self._sink.new_name("constant"))
            self._sink.add_constant(self._constants[key].name, array)
        return self._constants[key]
