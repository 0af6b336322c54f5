"""Builder of ONNX graphs."""

from __future__ import annotations

from typing import Any, NewType, Protocol

import numpy as np

from flybloom._internal.typing import Array

OPSET = 18
"""The version of the standard operators; the first that has all that is used (bitwise exclusive or)."""

Value = NewType("Value", str)
"""The name of what a node makes."""

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


class Graph:
    """Writes standard operators to a sink; each method returns its output."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._constants: dict[tuple[str, tuple[int, ...], bytes], Value] = {}

    def node(self, op: str, *inputs: Value, **attributes: Any) -> Value:
        """Add an operator, and return its output."""
        return self.nodes(op, *inputs, n_outputs=1, **attributes)[0]

    def nodes(self, op: str, *inputs: Value, n_outputs: int, **attributes: Any) -> list[Value]:
        """Add an operator, and return all its outputs."""
        outputs = [Value(self._sink.new_name(op)) for _ in range(n_outputs)]
        self._sink.add_node(op, [*inputs], [*outputs], attributes)
        return outputs

    def constant(self, values: Any, dtype: Any = None) -> Value:
        """Add a constant; small equal ones are shared."""
        array = np.asarray(values, dtype)
        key = (
            array.dtype.str,
            array.shape,
            array.tobytes() if array.dtype != object else repr(array.tolist()).encode(),
        )
        if key not in self._constants:
            self._constants[key] = Value(self._sink.new_name("constant"))
            self._sink.add_constant(self._constants[key], array)
        return self._constants[key]

    def cast(self, value: Value, dtype: str) -> Value:
        """Return values of another type."""
        return self.node("Cast", value, to=TYPES[dtype])

    def column(self, value: Value, at: int) -> Value:
        """Return one index of the second axis."""
        return self.node("Gather", value, self.constant(at, np.int64), axis=1)
