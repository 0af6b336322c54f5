"""A classifier of texts behind HTTP: teach it texts, ask it, and let it forget them, with a receipt.

    STATE=state ENCODER=wordllama uvicorn --app-dir examples/service texts:app

Texts become vectors, by wordllama (`pip install wordllama`, weights inside) or, without ENCODER, by hashes of their
letters, which need nothing. Texts are never kept; vectors are, until they are forgotten. An answer to teach means that
the change is on the disk; an answer to forget, that nothing on the disk knows the texts any more. New labels may come
at any time. Run one process; it is an example, so there is no login.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field
from sklearn.feature_extraction.text import HashingVectorizer
from state import State

import flybloom

SAVE_EVERY = float(os.getenv("SAVE_EVERY", "60"))  # seconds
MAX_TEXTS = 1000  # of one request


class Texts(BaseModel):
    """Texts to ask about."""

    texts: list[str] = Field(min_length=1, max_length=MAX_TEXTS)


class LabelledTexts(Texts):
    """Texts to teach or forget."""

    labels: list[str]


def encoder() -> Callable[[list[str]], np.ndarray]:
    """Return what makes unit vectors of texts."""
    if os.getenv("ENCODER") != "wordllama":
        letters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=512)
        return lambda texts: letters.transform(texts).toarray().astype(np.float32)
    import wordllama  # noqa: PLC0415 - only where it is wanted

    inside = Path(wordllama.__file__).parent  # where its weights are
    words = wordllama.WordLlama.load(cache_dir=inside, disable_download=True)
    return lambda texts: np.asarray(words.embed(texts, norm=True), np.float32)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load what was taught before, save it now and then, and when the service ends."""
    app.state.encode = encoder()
    app.state.lock = threading.Lock()  # of those who change the model; those who ask need none
    app.state.held = State(Path(os.environ["STATE"]), flybloom.FlyRidgeClassifier())
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


app = FastAPI(title="flybloom on texts", version=flybloom.__version__, lifespan=lifespan)


@app.post("/teach")
def teach(asked: LabelledTexts) -> dict[str, Any]:
    """Learn texts in addition to those before; their labels may be new."""
    _changed("learn", asked)
    return {"texts": len(asked.texts)}


@app.post("/ask")
def ask(asked: Texts) -> dict[str, Any]:
    """Return the label of each text, and how probable it is."""
    held = app.state.held
    if not held.has_learned:
        raise HTTPException(409, "Nothing was taught yet. Teach texts first.")
    probabilities = held.model.predict_proba(app.state.encode(asked.texts))
    best = probabilities.argmax(axis=1)
    return {"labels": held.model.classes_[best].tolist(), "probabilities": probabilities.max(axis=1).tolist()}


@app.post("/forget")
def forget(asked: LabelledTexts) -> dict[str, Any]:
    """Forget texts that were taught, on the disk as well, and return the receipt."""
    return asdict(_changed("forget", asked))


@app.get("/health")
def health() -> dict[str, Any]:
    """Return the number of texts by label, and how far the disk has them."""
    held = app.state.held
    counts = {}
    if held.has_learned:
        counts = dict(zip(held.model.classes_.tolist(), held.model.class_count_.tolist(), strict=True))
    return {"texts": counts, "state": held.number, "changes_in_journal": held.n_unsaved}


def _changed(action: str, asked: LabelledTexts) -> Any:
    """Change the model; what is forgotten leaves the journal at once."""
    if len(asked.labels) != len(asked.texts):
        raise HTTPException(422, f"Expected a label for each of {len(asked.texts)} texts. Got {len(asked.labels)}.")
    rows = app.state.encode(asked.texts).tolist()
    with app.state.lock:
        held = app.state.held
        if action == "forget" and not held.has_learned:
            raise HTTPException(422, "Nothing was taught yet. Forget only texts that were taught.")
        try:
            answer = held.change(action, rows, asked.labels)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        if action == "forget":
            held.save()
    return answer
