"""Addition, subtraction and forgetting.

For whole models, whose rows are all in the sketch, results are derived from the remaining rows. Otherwise counts are
added and subtracted, which needs the same hash.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from flybloom._internal.cached import cached_property
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.hashing.differences import require_no_differences
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.learning import counted, hasher_for, is_same_hash, united
from flybloom.core.model import Model, Origin, Recipe
from flybloom.core.sketch import Block, Sketch

COMPLETE, COUNTS_ONLY = "complete", "counts only"


class Forgotten:
    """What remains of forgotten rows.

    Attributes
    ----------
    extent : {"complete", "counts only"}
        "complete" if counts, sketch and encoder are those of the remaining rows; "counts only" if the encoder in use
        differs from the one derived from the remaining rows.
    steps : tuple of str
        The differences: steps of the encoder, sizes, or thresholds.
    """

    def __init__(self, model: Model | None = None, *, is_known: bool = True, kept: tuple[str, ...] = ()) -> None:
        self._model, self._is_known, self._kept = model, is_known, kept

    def __repr__(self) -> str:
        """Return the extent."""
        return f"Forgotten({self.extent!r}, steps={self.steps!r})"

    @property
    def extent(self) -> str:
        """Whether forgetting was complete."""
        return COUNTS_ONLY if self.steps else COMPLETE

    def except_for(self, kept: str) -> Forgotten:
        """Return the same, but for something outside of the model that was not derived again."""
        return Forgotten(self._model, is_known=self._is_known, kept=(kept,))

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The differences; computed when first needed, which may take as long as a fit."""
        return (*self._steps_of_hash(), *self._kept)

    def _steps_of_hash(self) -> tuple[str, ...]:
        """Return the differences between the hash in use and that of the remaining rows."""
        model = self._model
        if model is None or model.is_whole:
            return ()
        if model.origin is None:
            return () if self._is_known else tuple(step.kind for step in model.hasher.encoder.steps)
        if model.origin.is_handed_over:
            return ()
        if model.origin.sketch.n_rows == 0:  # all of it was forgotten
            return tuple(step.kind for step in model.hasher.encoder.steps)
        return different_steps(model.hasher, hasher_for(model, model.origin))


def merged(a: Model, b: Model, n_jobs: int | None) -> Model:
    """Return the sum of two models without pending rows."""
    a.counts.unit.require_same(b.counts.unit, "merge")
    if a.is_whole and b.is_whole and not a.counts.needs_positions:
        assert a.origin is not None  # noqa: S101
        assert b.origin is not None  # noqa: S101
        _require_alike(a, b, "merge")
        sketch = a.origin.sketch + b.origin.sketch
        announced = united(a.origin.announced, b.origin.announced)
        origin = a.origin._replace(sketch=sketch, is_whole=sketch.is_all, announced=announced, n_changed=0)
        hasher = hasher_for(a, origin)
        parts = [
            part.counts
            if is_same_hash(part, part.origin.sketch, hasher, origin)  # type: ignore[union-attr]
            else counted(origin, part.origin.sketch, hasher, a.counts.unit, n_jobs)  # type: ignore[union-attr]
            for part in (a, b)
        ]
        return Model(hasher, parts[0].plus(parts[1]), a.tuned, origin)
    whole, other = (a, b) if a.is_whole else (b, a)
    if whole.is_whole and other.origin is not None and not a.counts.needs_positions:
        alike = _as_hashed_by(other, whole, "merge", n_jobs)
        is_its_own = other.origin.is_handed_over and alike is whole  # the hash was derived from the whole model's rows
        model = whole.fixed() if is_its_own else other
        return model._replace(counts=other.counts.plus(alike.counts), tuned=a.tuned)
    a.hasher.require_same(b.hasher, "merge")
    origin_of_both = a.origin if b.origin is None or a.counts.needs_positions else b.origin
    if a.origin is not None and b.origin is not None and not a.counts.needs_positions and not a.origin.is_handed_over:
        is_shared = b.origin.is_handed_over or a.origin.sketch.holds_same(b.origin.sketch)
        origin_of_both = a.origin if is_shared else a.origin._replace(sketch=a.origin.sketch + b.origin.sketch)
    model = a._replace(counts=a.counts.plus(b.counts.following(a.counts)), origin=origin_of_both)
    return model.fixed()


def subtracted(a: Model, b: Model, n_jobs: int | None) -> Model | None:
    """Return the difference of two models; None if no rows remain."""
    a.counts.unit.require_same(b.counts.unit, "subtract")
    if b.is_whole and b.origin is not None and a.origin is not None and not a.counts.needs_positions:
        if a.is_whole:
            _require_alike(a, b, "subtract")
            sketch = a.origin.sketch - b.origin.sketch
            if sketch.n_rows == 0:
                return None
            origin = a.origin._replace(sketch=sketch, n_changed=0)
            hasher = hasher_for(a, origin)
            if not is_same_hash(a, a.origin.sketch, hasher, origin):
                return Model(hasher, counted(origin, sketch, hasher, a.counts.unit, n_jobs), a.tuned, origin)
            return a._replace(counts=a.counts.minus(_as_hashed_by(a, b, "subtract", n_jobs).counts), origin=origin)
        b = _as_hashed_by(a, b, "subtract", n_jobs)
    a.hasher.require_same(b.hasher, "subtract")
    origin_left = a.origin
    if a.origin is not None and b.origin is not None:
        origin_left = a.origin._replace(sketch=a.origin.sketch.without(b.origin.sketch))
    return _with_classes_of_counts(a._replace(counts=a.counts.minus(b.counts), origin=origin_left)).fixed()


def without(model: Model, block: Block, n_jobs: int | None) -> Model | None:
    """Return a model without some rows; None if no rows remain.

    The hash of a whole model is derived again before it is used: until then it follows from the forgotten rows.
    """
    assert model.origin is not None  # noqa: S101
    delta = model.count_block(block, n_jobs, sign=-1)
    origin, gone = model.origin, model.origin.recipe.sketch_of(block)
    if not origin.is_whole:
        origin = origin._replace(sketch=origin.sketch.without(gone))
        return _with_classes_of_counts(model._replace(counts=model.counts.minus(delta), origin=origin))
    sketch = origin.sketch - gone
    if sketch.n_rows == 0:
        return None
    origin = origin._replace(sketch=sketch, n_changed=sketch.n_rows)
    return model._replace(counts=model.counts.minus(delta), origin=origin)


def _with_classes_of_counts(model: Model) -> Model:
    """Return a model whose sketch has rows of counted classes alone: a subtrahend need not know which rows it has."""
    classes = getattr(model.counts, "classes", None)
    if classes is None or model.origin is None:
        return model
    return model._replace(origin=model.origin._replace(sketch=model.origin.sketch.of_classes(classes)))


def different_steps(a: Hasher, b: Hasher) -> tuple[str, ...]:
    """Return the differences between two hashes: names of encoder steps, or sizes."""
    steps, others = a.encoder.steps, b.encoder.steps
    if [step.kind for step in steps] != [step.kind for step in others]:
        return tuple(sorted({step.kind for step in steps} ^ {step.kind for step in others}))
    names = a.encoder.names
    found = [x.kind for x, y in zip(steps, others, strict=True) if x.fields(names) != y.fields(names)]
    if not found and a.fields != b.fields:
        found = ["sizes"]
    return tuple(found)


def _as_hashed_by(model: Model, whole: Model, action: str, n_jobs: int | None) -> Model:
    """Return a whole model, hashed again like another model."""
    assert whole.origin is not None  # noqa: S101
    _require_alike(model, whole, action)
    if whole.hasher.fields == model.hasher.fields and whole.counts.grid == model.counts.grid:
        return whole
    sketch, known = whole.origin.sketch, whole.origin.known
    counts = model.counts.emptied()
    block = Block(sketch.rows, sketch.labels, sketch.weights)
    counts = counts.plus(Model(model.hasher, counts).count_block(block, n_jobs, **known), owned=True)
    return whole._replace(hasher=model.hasher, counts=counts)


def _require_alike(a: Model, b: Model, action: str) -> None:
    """Raise an error for models with different settings."""
    require_no_differences(_asked_for(a, b), _asked_for(b, a), action)


def _asked_for(model: Model, other: Model) -> dict[str, object]:
    """Return the settings from which the hash of a model is derived."""
    encoder, projection = model.hasher.encoder, model.hasher.projection
    fields: dict[str, object] = {
        "n_features_in_": encoder.n_features,
        "feature_names_in_": None if encoder.names is None else list(encoder.names),
        "kinds": None if encoder.kinds is None else list(encoder.kinds),
        "signed_": projection.signed,
        "seed_": projection.seed,
    }
    if model.origin is not None and other.origin is not None:
        recipe = model.origin.recipe
        encoding = recipe.encoding.fields() if isinstance(recipe.encoding, Encoder) else recipe.encoding
        return {**fields, "encoding": encoding, **asdict(recipe.sizes), "sizes": type(recipe.sizes).__name__}
    return fields


def empty_from(model: Model, sketch: Sketch, recipe: Recipe) -> Model:
    """Return an empty model whose hash is derived from a sketch."""
    recipe = replace(recipe, seed=model.hasher.projection.seed)
    origin = Origin(recipe, sketch, is_whole=False)
    hasher = hasher_for(model, origin)
    return Model(hasher, recipe.counts(hasher, sketch, model.counts.unit), origin=origin)


def handed_over(origin: Origin | None) -> Origin | None:
    """Return the origin of an empty model with the hash of another one."""
    if origin is None:
        return None
    return Origin(origin.recipe, origin.sketch.emptied(), is_whole=False, is_handed_over=True)
