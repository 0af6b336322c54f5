"""A model behind HTTP: predict, learn, forget, and a page that says how it is.

    MODEL=digits.fly STATE=state uvicorn --app-dir examples/service app:app

MODEL is a file that `model.save` or `flybloom train` wrote; STATE is a folder for what is learned from then on. An
answer to learn or forget means that the change is on the disk. Run one process: there is one model. It is an example,
so there is no login; put it behind something that has one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from state import State

import flybloom

SAVE_EVERY = float(os.getenv("SAVE_EVERY", "60"))  # seconds
MAX_ROWS = 10_000  # of one request


class Rows(BaseModel):
    """Rows to predict; null is a missing value."""

    rows: list[list[float | None]]


class LabelledRows(Rows):
    """Rows to learn or forget."""

    labels: list[int | str]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model, save it now and then, and when the service ends."""
    app.state.lock = threading.Lock()  # of those who change the model; those who predict need none
    app.state.held = State(Path(os.environ["STATE"]), Path(os.environ["MODEL"]))
    ends = threading.Event()

    def save_now_and_then() -> None:
        while not ends.wait(SAVE_EVERY):
            with app.state.lock:
                if app.state.held.n_unsaved:
                    app.state.held.save()

    timer = threading.Thread(target=save_now_and_then, daemon=True)
    timer.start()
    yield
    ends.set()
    timer.join()
    with app.state.lock:
        app.state.held.close()


app = FastAPI(title="flybloom", version=flybloom.__version__, lifespan=lifespan)


@app.post("/predict")
def predict(asked: Rows) -> dict[str, Any]:
    """Return the label of each row. Rows that are being learned meanwhile are seen all together, or not at all."""
    _require_few(asked)
    numbers = [[float("nan") if value is None else value for value in row] for row in asked.rows]
    try:
        return {"labels": app.state.held.model.predict(numbers).tolist()}
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


@app.post("/learn")
def learn(asked: LabelledRows) -> dict[str, Any]:
    """Learn rows in addition to those before."""
    return _change("learn", asked)


@app.post("/forget")
def forget(asked: LabelledRows) -> dict[str, Any]:
    """Unlearn rows that were learned before."""
    return _change("forget", asked)


@app.get("/health")
def health() -> dict[str, Any]:
    """Return how the model is: its rows by class, and how far the disk has them."""
    held = app.state.held
    counts = dict(zip(map(str, held.model.classes_.tolist()), held.model.class_count_.tolist(), strict=True))
    return {
        "flybloom": flybloom.__version__,
        "model": type(held.model).__name__,
        "rows": counts,
        "state": held.number,
        "changes_in_journal": held.n_unsaved,
        "changes_replayed_at_start": held.n_replayed,
    }


def _change(action: str, asked: LabelledRows) -> dict[str, Any]:
    """Change the model; the answer means that the change is on the disk."""
    _require_few(asked)
    with app.state.lock:
        try:
            app.state.held.change(action, asked.rows, asked.labels)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
    return {"rows": len(asked.rows)}


def _require_few(asked: Rows) -> None:
    """Refuse requests that would hold the others up."""
    if not 0 < len(asked.rows) <= MAX_ROWS:
        raise HTTPException(422, f"Expected 1 to {MAX_ROWS} rows. Got {len(asked.rows)} instead.")
