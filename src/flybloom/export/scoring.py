"""Labels and probabilities from winners in ONNX operators."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._plain import MIX_0, MIX_1, STEP
from flybloom.core.counts.trend import COLUMN_STEPS, MAX_COLUMN, VALUE_STEPS
from flybloom.core.readout.linear import FrozenOutputs, FrozenReadout
from flybloom.core.readout.novelty_forms import FilterForm, NoveltyReadout
from flybloom.export.encoding import hashes
from flybloom.export.graph import Graph, Value


def linear_answers(graph: Graph, learned: FrozenReadout, seed: int, won: Value) -> dict[str, Value]:
    """Sum weights exactly; return the label with the largest score, and probabilities."""
    scores = _scores(graph, learned, won)
    codes = _largest(graph, scores, won, seed)
    label = graph.node("Gather", graph.constant(label_values(learned.classes)), codes, axis=0)
    temperature = learned.temperature * learned.divisor / learned.unit
    scaled = graph.node("Div", scores, graph.constant(float(temperature)))
    return {"label": label, "probabilities": graph.cast(graph.node("Softmax", scaled, axis=1), "float32")}


def target_answers(graph: Graph, learned: FrozenOutputs, won: Value, columns: Value | None) -> dict[str, Value]:
    """Return targets from scores, with the trend added."""
    scores, grid = graph.node("Mul", _scores(graph, learned, won), graph.constant(learned.unit)), learned.grid
    if grid.trend is not None and columns is not None:
        scaled = graph.node("Round", graph.node("Mul", columns, graph.constant(float(COLUMN_STEPS))))
        whole = graph.node("Clip", scaled, graph.constant(-float(MAX_COLUMN)), graph.constant(float(MAX_COLUMN)))
        of = grid.trend.segments()
        reach = graph.node(
            "Sub", graph.node("Gather", whole, graph.constant(of.columns, np.int64), axis=1), graph.constant(of.lefts)
        )
        reach = graph.node("Min", graph.node("Max", reach, graph.constant(0.0)), graph.constant(of.widths))
        sums = graph.node("Add", graph.node("MatMul", reach, graph.constant(of.slopes)), graph.constant(of.start))
        offsets = graph.node("Div", sums, graph.constant(float(VALUE_STEPS)))  # whole numbers, exact in any order
        scores = graph.node("Add", scores, offsets)
    scaled = graph.node("Mul", scores, graph.constant(np.array(grid.scales)))
    return {"variable": graph.node("Add", scaled, graph.constant(np.array(grid.origins)))}


def novelty_answers(graph: Graph, learned: NoveltyReadout, n_components: int, won: Value) -> dict[str, Value]:
    """Return -1 for outliers and 1 for others, and the decision function."""
    form, axis = learned.form, graph.constant([1], np.int64)
    if isinstance(form, FilterForm):
        weights = graph.node("Gather", graph.constant(form.weights), won, axis=0)
        sums = graph.node("ReduceSum", weights, axis, keepdims=0)  # multiples of 2^-30, exact in any order
        n_winners = graph.cast(graph.node("Squeeze", graph.node("Shape", won, start=1, end=2)), "float64")
        novelty = graph.node("Div", sums, n_winners)
    else:
        hashed = graph.cast(hashes(graph, n_components, won), "float64")
        matrix = graph.cast(graph.constant(form.square(n_components)), "float64")
        products = graph.node("Mul", graph.node("MatMul", hashed, matrix), hashed)  # whole numbers, exact in any order
        sums = graph.node("Max", graph.node("ReduceSum", products, axis, keepdims=0), graph.constant(0.0))
        leverage = graph.node("Mul", sums, graph.constant(form.unit))
        novelty = graph.node("Div", leverage, graph.node("Add", leverage, graph.constant(1.0)))
    scores = graph.node("Sub", graph.node("Neg", novelty), graph.constant(learned.offset))
    is_outlier = graph.node("Less", scores, graph.constant(0.0))
    label = graph.node("Where", is_outlier, graph.constant(-1, np.int64), graph.constant(1, np.int64))
    return {"label": label, "scores": scores}


def _scores(graph: Graph, learned: FrozenReadout | FrozenOutputs, won: Value) -> Value:
    """Return integer sums of the weights of winners and the intercept, exact in any order."""
    weights = graph.node("Gather", graph.constant(learned.weights), won, axis=0)
    sums = graph.node("ReduceSum", graph.cast(weights, "float64"), graph.constant([1], np.int64), keepdims=0)
    return graph.node("Add", sums, graph.constant(learned.intercept))


def label_values(classes: Array) -> Array:
    """Return labels in an ONNX type."""
    return classes.astype(object) if classes.dtype.kind in "UT" else classes


def _added_in_order(graph: Graph, values: Value) -> Value:
    """Sum over the second axis in a fixed order, which a reduction would not guarantee.

    onnxruntime reduces integers as floats.
    """
    last = graph.node("Sub", graph.node("Shape", values, start=1, end=2), graph.constant([1], np.int64))
    sums = graph.node("CumSum", values, graph.constant(1, np.int64))
    return graph.node("Gather", sums, graph.node("Squeeze", last), axis=1)


def _largest(graph: Graph, scores: Value, won: Value, seed: int) -> Value:
    """Return the class with the largest score; ties are broken by a hash of the winners."""
    axis = graph.constant([1], np.int64)
    tied = graph.cast(graph.node("Equal", scores, graph.node("ReduceMax", scores, axis, keepdims=1)), "int64")
    n_tied = graph.node("ReduceSum", tied, axis, keepdims=1)
    step = graph.constant(STEP.astype(np.int64))
    words = _mixed(graph, graph.node("Add", won, step))
    word = graph.node("Unsqueeze", _added_in_order(graph, words), axis)
    word = _mixed(graph, graph.node("BitwiseXor", word, graph.constant(np.uint64(seed).astype(np.int64))))
    word = _mixed(graph, graph.node("Add", word, step))
    chosen = _shifted(graph, graph.node("Mul", _shifted(graph, word, 32), n_tied), 32)
    rank = graph.node("CumSum", tied, graph.constant(1, np.int64))  # 1 for the first that ties
    is_chosen = graph.node(
        "Equal", graph.node("Mul", rank, tied), graph.node("Add", chosen, graph.constant(1, np.int64))
    )
    return graph.node("ArgMax", graph.cast(is_chosen, "int32"), axis=1, keepdims=0)


def _mixed(graph: Graph, words: Value) -> Value:
    """Mix 64-bit words; signed products wrap around like unsigned ones."""
    for bits, factor in ((30, MIX_0), (27, MIX_1), (31, None)):
        words = graph.node("BitwiseXor", words, _shifted(graph, words, bits))
        if factor is not None:
            words = graph.node("Mul", words, graph.constant(factor.astype(np.int64)))
    return words


def _shifted(graph: Graph, words: Value, bits: int) -> Value:
    """Shift words right logically."""
    shift = graph.constant(bits, np.uint64)
    return graph.cast(graph.node("BitShift", graph.cast(words, "uint64"), shift, direction="RIGHT"), "int64")
