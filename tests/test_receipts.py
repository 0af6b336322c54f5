"""Receipts of forgetting: what they prove, and what they refuse."""

import json

import numpy as np
import pytest

import flybloom
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core.files.receipt import Receipt, forget_with_receipt, snapshot, verify
from flybloom.exceptions import NeverLearnedError, ReceiptError


@pytest.fixture(params=[FlyBloomClassifier, FlyRidgeClassifier])
def model(request, digits):
    """A classifier of all digits."""
    return request.param(128, n_winners=8, encoding="none", random_state=0).fit(*digits)


def test_a_receipt_proves_that_the_model_lacks_just_the_rows(model, digits, tmp_path):
    """Through files, in any blocks, and without the model before."""
    X, y = digits
    forget_with_receipt(model, X[:40], y[:40]).save(tmp_path / "receipt.json")
    model.save(tmp_path / "after.fly")
    receipt, after = Receipt.load(tmp_path / "receipt.json"), flybloom.load(tmp_path / "after.fly")
    assert receipt.rows == 40
    assert verify(receipt, after) == {"model": True, "rows": False}
    assert verify(receipt, after, [(X[20:40], y[20:40]), (X[:20], y[:20])]) == {"model": True, "rows": True}
    never = type(model)(128, n_winners=8, encoding="none", random_state=0).fit(X[40:], y[40:])
    assert snapshot(never).state == receipt.after


def test_a_class_that_is_gone_is_on_the_receipt(digits):
    """With all of its rows."""
    X, y = digits
    model = FlyBloomClassifier(64, encoding="none", random_state=0).fit(X, y)
    receipt = forget_with_receipt(model, X[y == 3], y[y == 3])
    assert receipt.classes == [[3, int((y == 3).sum())]]
    assert verify(receipt, model, [(X[y == 3], y[y == 3])])["rows"]


def test_other_rows_and_other_models_are_refused(model, digits):
    """With what was expected."""
    X, y = digits
    before = snapshot(model)
    receipt = forget_with_receipt(model, X[:40], y[:40])
    with pytest.raises(ReceiptError, match="These are not the rows that were forgotten"):
        verify(receipt, model, [(X[1:41], y[1:41])])
    with pytest.raises(ReceiptError, match="These are not the rows that were forgotten"):
        verify(receipt, model, [(X[:39], y[:39])])
    again = type(model)(128, n_winners=8, encoding="none", random_state=0).fit(X, y)
    assert snapshot(again).state == before.state
    with pytest.raises(ReceiptError, match="It has not forgotten them"):
        verify(receipt, again)
    with pytest.raises(ReceiptError, match="hashes as"):
        verify(receipt, type(model)(64, encoding="none", random_state=0).fit(X, y))


def test_what_cannot_be_forgotten_gives_no_receipt(model):
    """And changes nothing."""
    before = snapshot(model)
    with pytest.raises(NeverLearnedError):
        forget_with_receipt(model, np.full((1, 64), 99.0), [3])
    assert snapshot(model) == before


def test_what_is_no_receipt_is_refused(model, digits, tmp_path):
    """Whatever is wrong with it."""
    path = tmp_path / "receipt.json"
    forget_with_receipt(model, digits[0][:5], digits[1][:5]).save(path)
    stored = json.loads(path.read_text())
    for wrong in (
        {},
        {**stored, "receipt": 3},
        {**stored, "extent": "some"},
        {**stored, "rows": "5"},
        {**stored, "classes": []},
        [],
        "receipt",
    ):
        path.write_text(json.dumps(wrong))
        with pytest.raises(ReceiptError, match="is no receipt"):
            Receipt.load(path)
    path.write_text('{"receipt":' + "[" * 10**5)
    with pytest.raises(ReceiptError, match="is no receipt"):  # a RecursionError before
        Receipt.load(path)
