"""OpenML by the paper's query; only the two functions that use the network are replaced."""

import inspect
from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import fetch_openml

from flybloom.exceptions import UnreachableError
from flybloom.paper import datasets
from flybloom.paper.datasets import Sizes, openml
from flybloom.paper.datasets.openml import Listed


def listing(**changes):
    """A listing with the columns of the real one; the first row belongs to A, the second to B."""
    rows = {
        "did": [44, 12, 3],
        "name": ["Spam-Base (x)", "mfeat-factors", "kr-vs-kp"],
        "version": [1, 2, 1],
        "uploader": ["1", "1", "1"],
        "status": ["active", "active", "active"],
        "format": ["ARFF", "ARFF", "ARFF"],
        "NumberOfClasses": [2.0, 10.0, 2.0],
        "NumberOfFeatures": [58.0, 217.0, 37.0],
        "NumberOfInstances": [4601.0, 2000.0, 3196.0],
        "NumberOfInstancesWithMissingValues": [0.0, 0.0, 0.0],
        "NumberOfMissingValues": [0.0, 0.0, 0.0],
        "NumberOfSymbolicFeatures": [1.0, 1.0, 37.0],
    }
    for column, value in changes.items():
        rows[column][0] = value
    return pd.DataFrame(rows, index=rows["did"])


@pytest.fixture
def online(monkeypatch):
    """Replace what uses the network; what is downloaded is noted."""
    openml = pytest.importorskip("openml")
    web = SimpleNamespace(listing=listing(), asked=[], problem=None, is_sparse=False)

    def list_datasets(data_id=None, offset=None, size=None, status=None, tag=None, output_format="dict"):  # noqa: ARG001
        assert output_format == "dataframe"
        return web.listing

    def fetch(**arguments):
        inspect.signature(fetch_openml).bind(**arguments)  # the real one takes these
        assert arguments["as_frame"] is False
        web.asked.append(arguments["data_id"])
        if web.problem is not None:
            raise web.problem
        X = np.arange(24.0).reshape(6, 4)
        y = np.array(list("babaab"), object)
        return SimpleNamespace(data=sparse.csr_matrix(X) if web.is_sparse else X, target=y)

    monkeypatch.setattr(openml.datasets, "list_datasets", list_datasets)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return web


def test_the_real_listing_has_the_columns_of_the_fake_one():
    """OpenML's own parser, on an answer of its server as documented; so the fake above is honest."""
    openml = pytest.importorskip("openml")
    from openml.datasets import functions  # noqa: PLC0415

    qualities = "".join(
        f'<oml:quality name="{name}">{value}</oml:quality>'
        for name, value in listing().iloc[0].items()
        if name.startswith("NumberOf")
    )
    answer = (
        '<oml:data xmlns:oml="http://openml.org/openml"><oml:dataset><oml:did>44</oml:did><oml:name>spambase</oml:name>'
        "<oml:version>1</oml:version><oml:status>active</oml:status><oml:format>ARFF</oml:format>"
        f"<oml:file_id>44</oml:file_id>{qualities}</oml:dataset></oml:data>"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openml._api_calls, "_perform_api_call", lambda *_: answer)
        frame = functions._list_datasets(output_format="dataframe")
    assert set(frame.columns) <= set(listing().columns)
    assert frame.iloc[0]["NumberOfFeatures"] == 58


def test_the_query_is_the_papers(online):
    """One number changed at a time; the target counts as a feature of OpenML."""
    assert datasets.list_openml_group("A") == [Listed(44, "Spam-Base (x)", 1)]
    assert datasets.list_openml_group("B") == [Listed(12, "mfeat-factors", 2)]
    for column, inside, outside in [
        ("NumberOfFeatures", 11.0, 10.0),
        ("NumberOfFeatures", 101.0, 102.0),
        ("NumberOfInstances", 1000.0, 999.0),
        ("NumberOfInstances", 50_000.0, 50_001.0),
        ("NumberOfClasses", 30.0, 31.0),
        ("NumberOfClasses", 2.0, 1.0),
        ("NumberOfSymbolicFeatures", 1.0, 2.0),
        ("NumberOfMissingValues", 0.0, 1.0),
        ("NumberOfInstancesWithMissingValues", 0.0, 1.0),
        ("NumberOfClasses", 2.0, np.nan),
        ("NumberOfMissingValues", 0.0, np.nan),
    ]:
        online.listing = listing(**{column: inside})
        assert [item.data_id for item in datasets.list_openml_group("A")] == [44]
        online.listing = listing(**{column: outside})
        assert 44 not in [item.data_id for item in datasets.list_openml_group("A")]


def test_versions_of_openml_that_only_know_frames(online, monkeypatch):
    """They take no output format."""
    import openml  # noqa: PLC0415

    monkeypatch.setattr(openml.datasets, "list_datasets", lambda data_id=None: online.listing)  # noqa: ARG005
    assert [item.data_id for item in datasets.list_openml_group("A")] == [44]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_is_fetched_is_kept(online, tmp_path, is_sparse):
    """A second call downloads nothing; loading needs no network."""
    online.is_sparse = is_sparse
    folder = tmp_path / "new"
    assert datasets.fetch_openml_group("A", folder) == ["spam_base_x_44"]
    assert datasets.fetch_openml_group("A", folder) == ["spam_base_x_44"]
    assert online.asked == [44]
    data = datasets.load("spam_base_x_44", folder)
    assert_array_equal(data.X, np.arange(24.0).reshape(6, 4))
    assert_array_equal(data.y, [1, 0, 1, 0, 0, 1])
    assert data.classes == ("a", "b")
    assert data.source == "OpenML 44: Spam-Base (x), version 1, https://www.openml.org/d/44"
    assert [path.name for path in folder.iterdir()] == ["spam_base_x_44.npz"]


@pytest.mark.parametrize(("data_id", "sizes"), [(61, Sizes(150, 4, 3)), (292, Sizes(85, 14, 2))])
@pytest.mark.filterwarnings("ignore:.*is inactive:UserWarning")
def test_scikit_learns_own_reader_gives_what_is_expected(monkeypatch, data_id, sizes):
    """On answers of OpenML that scikit-learn ships for its tests: Iris, and Australian, which is sparse."""
    answers = pytest.importorskip("sklearn.datasets.tests.test_openml")
    answers._monkey_patch_webbased_functions(monkeypatch, data_id, True)
    data = openml._download(Listed(data_id, "name", 1))
    assert data.sizes == sizes
    assert np.bincount(data.y).min() > 0


@pytest.mark.parametrize(
    "problem", [ValueError("STRING attributes"), HTTPError("http://x", 404, "Not Found", None, None)]
)
def test_a_set_that_cannot_be_read_is_left_out(online, tmp_path, problem):
    """With a warning; the others are fetched."""
    online.problem = problem
    with pytest.warns(UserWarning, match=r"Left out: Spam-Base \(x\) \(OpenML 44\) cannot be read"):
        assert datasets.fetch_openml_group("A", tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_network_that_fails_says_how_to_go_on(online, tmp_path, monkeypatch):
    """While listing and while downloading."""
    import openml  # noqa: PLC0415

    online.problem = URLError("Name or service not known")
    with pytest.raises(UnreachableError, match=r"Repeat the call.*Without a network"):
        datasets.fetch_openml_group("A", tmp_path)

    for error in (OSError("Max retries exceeded"), openml.exceptions.OpenMLServerError("busy")):

        def fail(output_format, error=error):  # noqa: ARG001
            raise error

        monkeypatch.setattr(openml.datasets, "list_datasets", fail)
        with pytest.raises(UnreachableError, match=r"could not be asked .* set FLYBLOOM_DATA"):
            datasets.fetch_openml_group("A", tmp_path)


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    """With the command that installs it."""
    monkeypatch.setattr("flybloom.exceptions.find_spec", lambda _name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'flybloom\[openml\]'"):
        datasets.fetch_openml_group("A", tmp_path)
