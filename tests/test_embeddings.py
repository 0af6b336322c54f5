"""Embeddings: unit vectors are recognised, and a model on them is its rows."""

import numpy as np
import pytest

import flybloom
from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor
from flybloom.core.encoding.image_shape import are_unit_vectors
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import SourceError


def embeddings(n=300, d=96, n_classes=3, seed=0):
    """Unit vectors around a few directions, in float32."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = np.random.default_rng(1).standard_normal((n_classes, d))[y] + 2 * rng.standard_normal((n, d)) + 0.5
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def steps_of(model):
    """The encoding that a model chose, and its number of components."""
    with reading_learned(model) as learned:
        return [step.kind for step in learned.hasher.encoder.steps], learned.hasher.n_components


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_unit_vectors_are_recognised_in_any_float(dtype):
    """Of float16 the lengths are rounded."""
    X, _ = embeddings()
    assert are_unit_vectors(X.astype(dtype))
    assert are_unit_vectors(np.vstack([X, np.zeros_like(X[:1])]).astype(dtype)), "the embedding of an empty text"


@pytest.mark.parametrize(
    "rows",
    [
        embeddings()[0] * 1.1,
        np.vstack([embeddings()[0], 2 * embeddings()[0][:1]]),
        embeddings(d=63)[0],
        np.eye(100, dtype=np.uint8),
        np.zeros((5, 100)),
        np.full((5, 100), np.nan),
    ],
    ids=["longer", "one longer", "few columns", "whole numbers", "zeros", "missing"],
)
def test_other_rows_are_no_unit_vectors(rows):
    """One row is enough to tell."""
    assert not are_unit_vectors(rows)


def test_pairs_centre_embeddings_and_take_more_components():
    """Counts of single winners do not."""
    X, y = embeddings()
    for kind, labels in ((FlyRidgeClassifier, y), (FlyRidgeRegressor, X[:, 0])):
        assert steps_of(kind().fit(X, labels)) == (["standardise"], 2048)
        assert steps_of(kind().fit(1.1 * X, labels))[1] == 1024
    assert "relevance" not in steps_of(FlyRidgeClassifier().fit(X, y))[0]
    assert steps_of(FlyBloomClassifier().fit(X, y))[1] == steps_of(FlyBloomClassifier().fit(1.1 * X, y))[1]


def test_sizes_for_embeddings_follow_the_encoder_not_the_rows():
    """Heads that share an encoding can be added, whatever the rows of each are like."""
    X, y = embeddings()
    fixed = Encoding("center").fit(X)
    first = FlyRidgeClassifier(256, encoding=fixed).partial_fit(X[:50], y[:50])
    other = FlyRidgeClassifier(256, encoding=fixed).partial_fit(1.1 * X[50:], y[50:])
    assert first.n_connections_ == other.n_connections_ == 32
    assert (first + other).class_count_.sum() == len(y)
    assert FlyRidgeClassifier(encoding="standard").fit(X, y).n_components_ == 1024


def test_classes_in_any_order_additions_and_deletions_leave_the_bits_of_a_fit(tmp_path):
    """The files are equal in every byte."""
    X, y = embeddings()
    model = FlyRidgeClassifier(random_state=0)
    for label in (2, 0, 1):
        model.partial_fit(X[y == label], y[y == label])
    model.forget(X[:50], y[:50])
    model.partial_fit(X[:20], y[:20]).forget(X[:20], y[:20])
    never = FlyRidgeClassifier(random_state=0).fit(X[50:], y[50:])
    for one, name in ((model, "model"), (never, "never")):
        one.save(tmp_path / name)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "never").read_bytes()


def arrow_lists(X):
    """Rows as a column of Arrow."""
    pa = pytest.importorskip("pyarrow")
    return pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])


def forms(X, folder):
    """The same rows as others hand them over."""
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    parquet, duckdb = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("duckdb")
    dataset = pytest.importorskip("pyarrow.dataset")
    lists = arrow_lists(X)
    table = pa.table({"vector": lists})
    np.save(folder / "rows.npy", X)
    parquet.write_table(table, folder / "rows.parquet")
    return {
        "column of Arrow": lists,
        "part of a column": pa.concat_arrays([arrow_lists(X[:1]), lists])[1:],
        "chunks of Arrow": pa.chunked_array([arrow_lists(X[:7]), arrow_lists(X[7:])]),
        "lists of any length": lists.cast(pa.list_(pa.float32())),
        "table of Arrow": table,
        "reader of Arrow": table.to_reader(),
        "arrays in pandas": pd.DataFrame({"vector": list(X)}),
        "series of pandas": pd.Series(list(X)),
        "array of arrays": pd.Series(list(X)).to_numpy(),
        "lists in pandas": pd.Series(X.tolist()).map(lambda row: np.array(row, np.float32)),
        "frame of polars": pl.DataFrame({"vector": X}),
        "lists in polars": pl.DataFrame({"vector": X}).select(pl.col("vector").arr.to_list()),
        "series of polars": pl.Series(X),
        "query of polars": pl.scan_parquet(folder / "rows.parquet"),
        "data set of Arrow": dataset.dataset(folder / "rows.parquet"),
        "mapped": np.load(folder / "rows.npy", mmap_mode="r"),
        "parquet": parquet.read_table(folder / "rows.parquet"),
        "relation of DuckDB": duckdb.connect().from_arrow(table),
        "reader of DuckDB": duckdb.connect().from_arrow(table).arrow(),
    }


def test_vectors_in_any_form_give_the_bits_of_an_array(tmp_path):
    """In fit, partial_fit and scores."""
    X, y = embeddings(60)
    expected = FlyRidgeClassifier(256).fit(X, y)
    for name, rows in forms(X, tmp_path).items():
        model = FlyRidgeClassifier(256).fit(rows, y)
        assert (model.pair_counts_ == expected.pair_counts_).all(), name
        assert model.n_features_in_ == X.shape[1], name
    for name, rows in forms(X[20:], tmp_path).items():
        model = FlyRidgeClassifier(256).partial_fit(X[:20], y[:20]).partial_fit(rows, y[20:])
        assert (model.pair_counts_ == expected.pair_counts_).all(), name
    for name, rows in forms(X, tmp_path).items():
        assert (expected.decision_function(rows) == expected.decision_function(X)).all(), name


def test_float16_has_the_bits_of_the_same_numbers_in_float32():
    """Types that hold the same values are one."""
    X, y = embeddings(60)
    half = X.astype(np.float16)
    one, other = (FlyRidgeClassifier(256).fit(rows, y) for rows in (half, half.astype(np.float32)))
    assert (one.pair_counts_ == other.pair_counts_).all()
    assert (one.predict(half) == other.predict(half.astype(np.float32))).all()


def test_tensors_of_torch():
    """Of the processor, with or without a gradient, and in a type that NumPy lacks."""
    torch = pytest.importorskip("torch")
    X, y = embeddings(60)
    expected = FlyRidgeClassifier(256).fit(X, y)
    for rows in (torch.from_numpy(X), torch.from_numpy(X).requires_grad_()):
        model = FlyRidgeClassifier(256).fit(rows, torch.from_numpy(y))
        assert (model.pair_counts_ == expected.pair_counts_).all()
        assert (model.predict(rows) == expected.predict(X)).all()
    short = torch.from_numpy(X).bfloat16()
    assert (expected.predict(short) == expected.predict(short.float().numpy())).all()


def test_tables_of_numbers_from_arrow_and_duckdb():
    """Readers and relations keep the names of the columns."""
    pa, duckdb = pytest.importorskip("pyarrow"), pytest.importorskip("duckdb")
    X, y = embeddings(60, d=5)
    table = pa.table({f"c{j}": X[:, j] for j in range(5)})
    expected = FlyRidgeClassifier(64).fit(table, y)
    assert expected.feature_names_in_.tolist() == table.column_names
    for rows in (table.to_reader(), duckdb.connect().from_arrow(table), duckdb.connect().from_arrow(table).arrow()):
        assert (FlyRidgeClassifier(64).fit(rows, y).pair_counts_ == expected.pair_counts_).all()
    assert (expected.predict(table.to_reader()) == expected.predict(table)).all()


def test_vectors_that_are_no_rows_are_refused_and_change_nothing():
    """Gaps, lengths that differ, and vectors beside other columns."""
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    X, y = embeddings(20)
    model = FlyRidgeClassifier(64).fit(X, y)
    before = model.pair_counts_.copy()
    for rows, said in (
        (pa.array([[1.0, 2.0], [3.0]]), "lengths of"),
        (pa.array([[1.0, 2.0], None]), "a missing value"),
        (pa.array([[1.0, 2.0], [3.0, None]]), "a missing value"),
        (pd.Series([np.ones(2), np.ones(3)]), "vectors of one length"),
        (pd.Series([np.ones(2), np.ones(3)]).to_numpy(), "vectors of one length"),
    ):
        with pytest.raises(ValueError, match=said):
            model.partial_fit(rows, y[:2])
    with pytest.raises(ValueError, match="'vector' of X holds vectors, beside"):
        model.partial_fit(pd.DataFrame({"vector": list(X), "price": 1.0}), y)
    assert (model.pair_counts_ == before).all()


def sources(X, y, folder):
    """Vectors with their labels, as files and databases have them."""
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    duckdb = pytest.importorskip("duckdb")
    lists = arrow_lists(X)
    table = pa.table({"text": [f"row {at}" for at in range(len(y))], "vector": lists, "label": y})
    any_length = table.set_column(1, "vector", lists.cast(pa.list_(pa.float32())))
    parquet.write_table(any_length, folder / "lists.parquet", row_group_size=25)
    parquet.write_table(table, folder / "fixed.parquet")
    feather.write_feather(table, folder / "fixed.feather")
    pd.DataFrame({"vector": list(X), "text": "?", "label": y}).to_parquet(folder / "pandas.parquet")
    return {
        "lists in Parquet": folder / "lists.parquet",
        "fixed lists in Parquet": folder / "fixed.parquet",
        "written by pandas": folder / "pandas.parquet",
        "Feather": folder / "fixed.feather",
        "a table": table,
        "a reader": any_length.to_reader(max_chunksize=13),
        "pandas": pd.DataFrame({"text": "?", "vector": list(X), "label": y}),
        "polars": pl.from_arrow(table),
        "DuckDB": duckdb.connect().from_arrow(table),
    }


def test_training_reads_a_column_of_vectors_from_any_source(tmp_path):
    """The features are the one column of lists; text beside it is left out."""
    X, y = embeddings(60)
    expected = FlyRidgeClassifier(256, encoding="none").fit(X, y)
    for name, source in sources(X, y, tmp_path).items():
        blocks = flybloom.read_blocks(source, "label", exclude=["text"], block_rows=17)
        model = flybloom.train(FlyRidgeClassifier(256, encoding="none"), blocks, "label")
        assert (model.pair_counts_ == expected.pair_counts_).all(), name
        assert not hasattr(model, "feature_names_in_"), name
    usual = flybloom.read_blocks(tmp_path / "fixed.parquet", "label", features=["vector"])
    assert usual.schema()["n_features"] == X.shape[1]
    assert (
        flybloom.train(FlyRidgeClassifier(256), usual, "label").predict(X)
        == FlyRidgeClassifier(256).fit(X, y).predict(X)
    ).all()
    with pytest.raises(SourceError, match=r"'vector' is of type fixed_size_list.* only feature"):
        flybloom.read_blocks(tmp_path / "fixed.parquet", "label").schema()


def test_vectors_of_other_lengths_name_the_place(tmp_path):
    """In one block, and in a later one."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"vector": [[1.0, 2.0]] * 5 + [[3.0]], "label": [0, 1, 0, 1, 0, 1]})
    parquet.write_table(table, tmp_path / "wrong.parquet")
    for block_rows, said in ((6, "lengths of"), (5, "features")):
        blocks = flybloom.read_blocks(tmp_path / "wrong.parquet", "label", block_rows=block_rows)
        with pytest.raises(ValueError, match=said):
            flybloom.train(FlyRidgeClassifier(64, n_connections=1, encoding="none"), blocks, "label")
