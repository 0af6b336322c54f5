"""Imputation in ONNX operators.

See `_kernels/_plain/fill.py`. A runtime may sum in another order and has its own logarithms and exponentials, so values
may differ in the last bit of a float64 before they are rounded to float32.
"""

from __future__ import annotations

import numpy as np

from flybloom.core._kernels._plain.fill import LARGEST, LEAST_PIVOT
from flybloom.core.encoding.fill import Fill
from flybloom.export.graph import Graph, Value


def filled(graph: Graph, step: Fill, values: Value, missing: Value) -> Value:
    """Return imputed rows as float32."""
    d = step.means.shape[1]
    zero = graph.constant(0.0)
    known = graph.node("Where", missing, zero, graph.cast(values, "float64"))
    normals, last = graph.constant([1], np.int64), graph.constant([-1], np.int64)
    gaps = graph.node("Unsqueeze", missing, normals)  # rows, normals, columns
    apart = graph.node("Sub", graph.node("Unsqueeze", known, normals), graph.constant(step.means.astype(np.float64)))
    apart = graph.node("Where", gaps, zero, apart)
    precisions = step.precisions.astype(np.float64)
    column = graph.node("MatMul", graph.constant(precisions), graph.node("Unsqueeze", apart, last))
    pull = graph.node("Squeeze", column, last)
    size = graph.node("ReduceSum", graph.node("Mul", apart, pull), last, keepdims=0)
    pull = graph.node("Where", gaps, pull, zero)
    both = graph.node(
        "And", graph.node("Unsqueeze", gaps, last), graph.node("Unsqueeze", gaps, graph.constant([2], np.int64))
    )
    matrix = graph.node("Where", both, graph.constant(precisions), graph.constant(np.eye(d)))
    shift, log_determinant = _solved(graph, matrix, pull, d)
    size = graph.node("Sub", size, graph.node("ReduceSum", graph.node("Mul", pull, shift), last, keepdims=0))
    size = graph.node("Add", size, log_determinant)
    scores = graph.node("Sub", graph.constant(step.chances), graph.node("Mul", size, graph.constant(0.5)))
    likely = graph.node("Unsqueeze", graph.node("Softmax", scores, axis=1), last)
    expected = graph.node("Sub", graph.constant(step.means.astype(np.float64)), shift)
    mean = graph.node("ReduceSum", graph.node("Mul", likely, expected), normals, keepdims=0)
    mean = graph.node("Clip", mean, graph.constant(-LARGEST), graph.constant(LARGEST))
    return graph.node("Where", missing, graph.cast(mean, "float32"), values)


def _solved(graph: Graph, matrix: Value, right: Value, d: int) -> tuple[Value, Value]:
    """Solve linear systems by elimination; return solutions and log-determinants."""
    last = graph.constant([-1], np.int64)
    pivots = []
    for p in range(d):
        at = graph.constant(p, np.int64)
        row = graph.node("Gather", matrix, at, axis=2)
        pivot = graph.node(
            "Max", graph.node("Gather", row, graph.constant([p], np.int64), axis=2), graph.constant(LEAST_PIVOT)
        )
        pivots.append(pivot)
        factor = graph.node("Div", graph.node("Gather", matrix, at, axis=3), pivot)
        factor = graph.node("Mul", factor, graph.constant((np.arange(d) != p).astype(np.float64)))
        taken = graph.node(
            "Mul", graph.node("Unsqueeze", factor, last), graph.node("Unsqueeze", row, graph.constant([2], np.int64))
        )
        matrix = graph.node("Sub", matrix, taken)
        of_right = graph.node("Gather", right, graph.constant([p], np.int64), axis=2)
        right = graph.node("Sub", right, graph.node("Mul", factor, of_right))
    diagonal = graph.node("Concat", *pivots, axis=2)
    logs = graph.node("ReduceSum", graph.node("Log", diagonal), last, keepdims=0)
    return graph.node("Div", right, diagonal), logs
