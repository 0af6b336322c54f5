"""Export to ONNX with standard operators."""

from __future__ import annotations

from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._plain import MIX_0, MIX_1, STEP
from flybloom.core.counts.trend import COLUMN_STEPS, MAX_COLUMN, VALUE_STEPS
from flybloom.core.readout.linear import OFFSET, FrozenOutputs, FrozenReadout
from flybloom.core.readout.novelty_forms import FilterForm, NoveltyReadout
from flybloom.estimators.access import hasher_of
from flybloom.estimators.base import FlyEstimator
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.estimators.fly_hash import FlyHash
from flybloom.estimators.frozen import FrozenClassifier, FrozenNovelty, FrozenRegressor
from flybloom.estimators.novelty import FlyBloomNovelty
from flybloom.estimators.regressor import FlyRidgeRegressor
from flybloom.estimators.ridge import FlyRidgeClassifier
from flybloom.exceptions import require_extra
from flybloom.export.encoding import columns_apart, hashes, winners
from flybloom.export.graph import OPSET, TYPES, Graph, Value

if TYPE_CHECKING:
    import onnx

IR_VERSION = 9  # what runtimes of this set of operators read
INPUT_TYPES = ("float64", "float32", "int64")
DETECTORS: tuple[type[FlyEstimator], ...] = (FlyBloomNovelty, FrozenNovelty)
REGRESSORS: tuple[type[FlyEstimator], ...] = (FlyRidgeRegressor, FrozenRegressor)
CONVERTED = (FlyBloomClassifier, FlyRidgeClassifier, FrozenClassifier, *DETECTORS, *REGRESSORS, FlyHash)


def to_onnx(model: Any, *, dtype: Literal["float64", "float32", "int64"] = "float64") -> onnx.ModelProto:
    """Convert a fitted model to an ONNX graph with standard operators only.

    Sums are added in the same order as in flybloom and sums of weights are exact, so a conforming runtime gives the
    same labels, bit for bit. Rows are dense; missing values are NaN. The graph contains encoding, connections and
    weights.

    Parameters
    ----------
    model : estimator
        A FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor, FlyBloomNovelty or FlyHash, fitted, or a frozen
        model.
    dtype : {"float64", "float32", "int64"}, default="float64"
        Type of the input. With int64 and ``encoding="none"``, sums are integers.

    Returns
    -------
    onnx.ModelProto
        With the input ``X`` of shape (n_samples, n_features). A classifier has the outputs ``label`` and
        ``probabilities`` (float32); a regressor has ``variable`` (float64, a column for each output); a detector
        has ``label`` and ``scores`` (float64, those of `decision_function`); a hash has ``winners`` (int64, by
        descending sum) and ``hash`` (float32, binary).

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If its encoding has a step without ONNX operators.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FlyBloomClassifier(n_components=256, n_winners=16, random_state=0).fit(X, y)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> bool((session.run(["label"], {"X": X})[0] == model.predict(X)).all())
    True
    """
    require_extra("onnx", "onnx", "to_onnx")
    if dtype not in INPUT_TYPES:
        msg = f"The 'dtype' parameter must be one of {INPUT_TYPES}. Got {dtype!r} instead."
        raise ValueError(msg)
    sink = _Model(import_module("onnx"))
    outputs = write_model(model, Value(Graph(sink), "X"), dtype)
    finished: onnx.ModelProto = sink.finished(dtype, model.n_features_in_, outputs, _output_types(model))
    return finished


def write_model(model: Any, X: Value, dtype: str) -> dict[str, Value]:
    """Write the graph of a model, and return its outputs by name."""
    if not isinstance(model, CONVERTED):
        msg = (
            f"Only {', '.join(kind.__name__ for kind in CONVERTED)} can be written as ONNX. Got {type(model).__name__} "
            "instead. Export the model inside it, such as model.best_estimator_."
        )
        raise TypeError(msg)
    if hasattr(model, "freeze"):
        model = model.freeze()
    hasher = hasher_of(model)
    won = winners(hasher, X, dtype)
    if isinstance(model, FlyHash):
        return {"winners": won, "hash": hashes(hasher.n_components, won)}
    if isinstance(model, FrozenNovelty):
        return novelty_answers(model.frozen_readout, hasher.n_components, won)
    if isinstance(model, FrozenRegressor):
        frozen = model.frozen_readout
        columns = None if frozen.grid.trend is None else columns_apart(hasher.encoder, X, dtype)
        return target_answers(frozen, won, columns)
    return linear_answers(model.frozen_readout, hasher.projection.seed, won, has_values=not hasher.n_winners)


class _Model:
    """Sink for a standalone ONNX model."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._numbers = count()

    def new_name(self, hint: str) -> str:
        """Return a name that nothing else has."""
        return f"{hint}_{next(self._numbers)}"

    def add_node(self, op: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any]) -> None:
        """Take a node."""
        self._nodes.append(self._onnx.helper.make_node(op, inputs, outputs, **attributes))

    def add_constant(self, name: str, values: Array) -> None:
        """Take a constant."""
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))

    def finished(
        self, dtype: str, n_features: int, outputs: dict[str, Value], types: dict[str, tuple[int, Any]]
    ) -> Any:
        """Return the validated model."""
        helper = self._onnx.helper
        for name, value in outputs.items():
            self.add_node("Identity", [value.name], [name], {})
        graph = helper.make_graph(
            self._nodes,
            "flybloom",
            [helper.make_tensor_value_info("X", TYPES[dtype], [None, n_features])],
            [helper.make_tensor_value_info(name, number, [None, *rest]) for name, (number, rest) in types.items()],
            self._constants,
        )
        version = import_module("flybloom").__version__
        model = helper.make_model(
            graph,
            producer_name="flybloom",
            producer_version=version,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        self._onnx.checker.check_model(model)
        return model


def _output_types(model: Any) -> dict[str, tuple[int, list[int]]]:
    """Return type and shape, without the rows, of each output."""
    if isinstance(model, FlyHash):
        return {"winners": (TYPES["int64"], [model.n_winners_]), "hash": (TYPES["float32"], [model.n_components_])}
    if isinstance(model, DETECTORS):
        return {"label": (TYPES["int64"], []), "scores": (TYPES["float64"], [])}
    if isinstance(model, REGRESSORS):
        return {"variable": (TYPES["float64"], [_n_outputs(model)])}
    labels = import_module("onnx").numpy_helper.from_array(label_values(model.classes_)).data_type
    return {"label": (labels, []), "probabilities": (TYPES["float32"], [model.classes_.size])}


def _n_outputs(model: Any) -> int:
    """Return the number of outputs of a regressor."""
    frozen = model.freeze() if hasattr(model, "freeze") else model
    return int(frozen.frozen_readout.grid.n_outputs)


class _Container:
    """Sink for a model of skl2onnx."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def new_name(self, hint: str) -> str:
        """Return a name that nothing else has."""
        return str(self._scope.get_unique_variable_name(f"flybloom_{hint}"))

    def add_node(self, op: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any]) -> None:
        """Take a node."""
        name = self._scope.get_unique_operator_name(op)
        self._container.add_node(op, inputs, outputs, op_version=OPSET, name=name, **attributes)

    def add_constant(self, name: str, values: Array) -> None:
        """Take a constant."""
        numpy_helper = import_module("onnx").numpy_helper
        tensor = numpy_helper.from_array(values, name)
        if values.dtype == object:
            self._container.add_initializer(name, tensor.data_type, list(values.shape), values.ravel().tolist())
        else:
            self._container.add_initializer(name, tensor.data_type, None, tensor)


def register() -> None:
    """Register converters with skl2onnx, so that whole pipelines can be converted.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import RobustScaler
    >>> from flybloom import FlyBloomClassifier, export
    >>> export.register()
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(RobustScaler(), FlyBloomClassifier(256, random_state=0)).fit(X, y)
    >>> graph = to_onnx(model, X[:1], target_opset=18, options={"zipmap": False})
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    """
    require_extra("skl2onnx", "onnx", "register")
    skl2onnx = import_module("skl2onnx")
    for kind in CONVERTED:
        options = (
            None
            if kind in (FlyHash, *DETECTORS, *REGRESSORS)
            else {"zipmap": [True, False, "columns"], "nocl": [True, False]}
        )
        skl2onnx.update_registered_converter(
            kind, f"Flybloom{kind.__name__}", _shapes, _convert, options=options, overwrite=True
        )


def _shapes(operator: Any) -> None:
    """Declare output types and shapes for skl2onnx."""
    types = import_module("skl2onnx.common.data_types")
    n_rows = operator.inputs[0].type.shape[0]
    model = operator.raw_operator
    if isinstance(model, FlyHash):
        operator.outputs[0].type = types.FloatTensorType([n_rows, model.n_components_])
        return
    if isinstance(model, DETECTORS):
        operator.outputs[0].type = types.Int64TensorType([n_rows])
        operator.outputs[1].type = types.DoubleTensorType([n_rows])
        return
    if isinstance(model, REGRESSORS):
        operator.outputs[0].type = types.DoubleTensorType([n_rows, _n_outputs(model)])
        return
    is_text = model.classes_.dtype.kind in "UTO"
    operator.outputs[0].type = (types.StringTensorType if is_text else types.Int64TensorType)([n_rows])
    operator.outputs[1].type = types.FloatTensorType([n_rows, model.classes_.size])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write a model into that of skl2onnx."""
    types = import_module("skl2onnx.common.data_types")
    names = {types.DoubleTensorType: "float64", types.FloatTensorType: "float32", types.Int64TensorType: "int64"}
    dtype = names.get(type(operator.inputs[0].type))
    if dtype is None:
        msg = f"Expected an input of {', '.join(INPUT_TYPES)}. Got {operator.inputs[0].type} instead."
        raise TypeError(msg)
    model = operator.raw_operator
    sink = _Container(scope, container)
    outputs = write_model(model, Value(Graph(sink), operator.inputs[0].full_name), dtype)
    wanted = [name for name in outputs if name != "winners"]
    for name, variable in zip(wanted, operator.outputs, strict=True):
        is_whole = name == "label" and hasattr(model, "classes_") and model.classes_.dtype.kind in "biu"
        attributes = {"to": TYPES["int64"]} if is_whole else {}
        sink.add_node("Cast" if is_whole else "Identity", [outputs[name].name], [variable.full_name], attributes)


def linear_answers(learned: FrozenReadout, seed: int, won: Value, *, has_values: bool = False) -> dict[str, Value]:
    """Sum weights exactly; return the label with the largest score, and probabilities."""
    graph = won.graph
    if has_values:
        scores = graph.node("MatMul", won, learned.weights.astype(np.float64)) + learned.intercept
        won = (won.sum(keepdims=1) + float(OFFSET * len(learned.weights))).cast("int64")
    else:
        scores = _scores(learned, won)
    label = graph.constant(label_values(learned.classes)).at(_largest(scores, won, seed), 0)
    scaled = scores / float(learned.temperature * learned.divisor / learned.unit)
    return {"label": label, "probabilities": graph.node("Softmax", scaled, axis=1).cast("float32")}


def target_answers(learned: FrozenOutputs, won: Value, columns: Value | None) -> dict[str, Value]:
    """Return targets from scores, with the trend added."""
    scores, grid, graph = _scores(learned, won) * learned.unit, learned.grid, won.graph
    if grid.trend is not None and columns is not None:
        limit, of = float(MAX_COLUMN), grid.trend.segments()
        whole = graph.node("Round", columns * float(COLUMN_STEPS)).clip(-limit, limit)
        reach = graph.node("Max", whole.at(of.columns.astype(np.int64)) - of.lefts, 0.0)
        sums = graph.node("MatMul", graph.node("Min", reach, of.widths), of.slopes) + of.start
        scores = scores + sums / float(VALUE_STEPS)  # whole numbers, exact in any order
    return {"variable": scores * np.array(grid.scales) + np.array(grid.origins)}


def novelty_answers(learned: NoveltyReadout, n_components: int, won: Value) -> dict[str, Value]:
    """Return -1 for outliers and 1 for others, and the decision function."""
    form, graph = learned.form, won.graph
    if isinstance(form, FilterForm):
        sums = graph.constant(form.weights).at(won, 0).sum()  # multiples of 2^-30, exact in any order
        n_winners = graph.node("Squeeze", graph.node("Shape", won, start=1, end=2)).cast("float64")
        novelty = sums / n_winners
    else:
        hashed = hashes(n_components, won).cast("float64")
        matrix = graph.constant(form.square(n_components)).cast("float64")
        sums = (graph.node("MatMul", hashed, matrix) * hashed).sum()  # whole numbers, exact in any order
        leverage = graph.node("Max", sums, 0.0) * form.unit
        novelty = leverage / (leverage + 1.0)
    scores = -novelty - learned.offset
    return {"label": graph.node("Less", scores, 0.0).where(-1, 1), "scores": scores}


def _scores(learned: FrozenReadout | FrozenOutputs, won: Value) -> Value:
    """Return integer sums of the weights of winners and the intercept, exact in any order."""
    return won.graph.constant(learned.weights).at(won, 0).cast("float64").sum() + learned.intercept


def label_values(classes: Array) -> Array:
    """Return labels in an ONNX type."""
    return classes.astype(object) if classes.dtype.kind in "UT" else classes


def _added_in_order(values: Value) -> Value:
    """Sum over the second axis in a fixed order, which a reduction would not guarantee.

    onnxruntime reduces integers as floats.
    """
    graph = values.graph
    last = graph.node("Shape", values, start=1, end=2) - [1]
    return graph.node("CumSum", values, 1).at(graph.node("Squeeze", last))


def _largest(scores: Value, won: Value, seed: int) -> Value:
    """Return the class with the largest score; ties are broken by a hash of the winners."""
    graph, step = scores.graph, STEP.astype(np.int64)
    tied = graph.node("Equal", scores, graph.node("ReduceMax", scores, [1], keepdims=1)).cast("int64")
    word = _added_in_order(_mixed(won + step)).spread(1)
    word = _mixed(graph.node("BitwiseXor", word, np.uint64(seed).astype(np.int64)))
    chosen = _shifted(_shifted(_mixed(word + step), 32) * tied.sum(keepdims=1), 32)
    rank = graph.node("CumSum", tied, 1)  # 1 for the first that ties
    return graph.node("ArgMax", graph.node("Equal", rank * tied, chosen + 1).cast("int32"), axis=1, keepdims=0)


def _mixed(words: Value) -> Value:
    """Mix 64-bit words; signed products wrap around like unsigned ones."""
    for bits, factor in ((30, MIX_0), (27, MIX_1), (31, None)):
        words = words.graph.node("BitwiseXor", words, _shifted(words, bits))
        if factor is not None:
            words = words * factor.astype(np.int64)
    return words


def _shifted(words: Value, bits: int) -> Value:
    """Shift words right logically."""
    shifted = words.graph.node("BitShift", words.cast("uint64"), np.uint64(bits), direction="RIGHT")
    return shifted.cast("int64")
