"""Interrupts and failures at any moment of a call: a model is as it was, or as it would be, and goes on working."""

from __future__ import annotations

import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import flybloom
from attack.promises import promise
from flybloom.estimators.access import reading_learned
from laws.kinds import KINDS, Kind, state_of

N_CLASSES = 6
NEVER_FAIL = frozenset(
    {"__exit__", "__enter__", "acquire", "release", "_release_save", "locked", "notify", "setprofile", "discard"}
)
"""What a fault is not put into: taking and giving back a lock neither fails nor can be interrupted halfway."""


class Injected(BaseException):
    """What a signal raises; no part of the library can expect it."""


class Case(NamedTuple):
    """A call, and what it leads to."""

    name: str
    kind: Kind
    start: bytes  # the pickled model before the call
    call: Callable[[Any, Path], Any]
    before: bytes  # states
    after: bytes
    seconds: float
    n_events: int
    folder: Path


def bits(model: Any) -> bytes:
    """All that is learned."""
    facts, arrays, dtype = state_of(model)
    return pickle.dumps((facts, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}, dtype.str))


def cases(folder: Path) -> list[Case]:
    """Every call of every kind, with few rows, which are counted in place, and with many."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 8)), np.arange(300) % N_CLASSES
    found = []
    for kind in KINDS:
        learned = kind.model(encoding="none").partial_fit(X[:120], **kind.labels(y[:120]))
        other = kind.model(encoding="none").partial_fit(X[120:], **kind.labels(y[120:]))

        def labels(rows: slice, kind: Kind = kind) -> dict[str, Any]:
            return kind.labels(y[rows])

        def gone(rows: slice, kind: Kind = kind) -> dict[str, Any]:
            return {"positions": np.arange(120)[rows]} if kind.has_order else kind.labels(y[rows])

        calls: dict[str, Callable[[Any, Path], Any]] = {
            "partial_fit of one row": lambda m, _, f=labels: m.partial_fit(X[200:201], **f(slice(200, 201))),
            "partial_fit of many rows": lambda m, _, f=labels: m.partial_fit(X[120:], **f(slice(120, None))),
            "forget of one row": lambda m, _, f=gone: m.forget(X[119:120], **f(slice(119, 120))),
            "forget of many rows": lambda m, _, f=gone: m.forget(X[20:120], **f(slice(20, 120))),
            "merge": lambda m, _, o=other: m.merge(o),
            "save": lambda m, path: m.save(path),
            "predict": lambda m, _: m.predict(X[:5]),
        }
        if kind.estimator._has_labels and kind.name != "hours":
            calls["partial_fit of a new class"] = lambda m, _: m.partial_fit(X[:3], [7, 8, 9])
        for name, call in calls.items():
            found.append(_case(f"{name}", kind, learned, call, folder))
    return found


def own(start: bytes) -> Any:
    """A model whose state nobody else has, so that it may be changed in place."""
    model = pickle.loads(start)  # noqa: S301
    with reading_learned(model) as learned:
        model._shared.replace(learned)
    return model


def _case(name: str, kind: Kind, learned: Any, call: Callable[[Any, Path], Any], folder: Path) -> Case:
    """Run the call a few times, to compile all it needs and to see how long it takes."""
    start, path = pickle.dumps(learned), folder / "model.fly"
    for _ in range(3):
        model = own(start)
        began = time.perf_counter()
        call(model, path)
        seconds = time.perf_counter() - began
    counter = _Faults(sys.maxsize)
    counter.run(lambda: call(own(start), path))
    path.unlink(missing_ok=True)
    return Case(name, kind, start, call, bits(learned), bits(model), seconds, counter.n_events, folder)


class _Faults:
    """Raises at one of the moments between, before and after calls of functions, as signals and allocators do."""

    def __init__(self, at: int) -> None:
        self.at, self.n_events = at, 0

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        """Count, and raise when it is time."""
        if event == "return" or (event.startswith("c_") and argument.__name__ in NEVER_FAIL):
            return
        if event == "call" and frame.f_code.co_name in NEVER_FAIL:
            return
        self.n_events += 1
        if self.n_events == self.at:
            sys.setprofile(None)
            raise MemoryError if event == "c_call" else Injected

    def run(self, work: Callable[[], Any]) -> bool:
        """Work with faults; return whether one was raised."""
        sys.setprofile(self)
        try:
            work()
        except (Injected, MemoryError):
            return True
        finally:
            sys.setprofile(None)
        return False


def check(case: Case, model: Any, path: Path) -> str:
    """The model is whole, nobody waits for a lock, and the same call goes through afterwards."""
    shared = model._shared
    assert not shared.looking.locked(), f"{case.name} of {case.kind.name}: a lock was not given back"
    assert not shared._readers, f"{case.name} of {case.kind.name}: a reader was not let go"
    assert not shared.learning._is_owned(), f"{case.name} of {case.kind.name}: the learner was not let go"
    now = bits(model)
    assert now in (case.before, case.after), f"{case.name} of {case.kind.name}: torn"
    if path.exists():
        loaded = flybloom.load(path)
        path.unlink()
        assert bits(loaded) in (case.before, case.after), f"{case.name} of {case.kind.name}: the file is torn"
    model.save(path)
    assert bits(flybloom.load(path)) == now, f"{case.name} of {case.kind.name}: saved and loaded, it differs"
    path.unlink()
    if now == case.before:
        case.call(model, path)
        assert bits(model) == case.after, f"{case.name} of {case.kind.name}: afterwards, the call does something else"
    path.unlink(missing_ok=True)
    return "done" if now == case.after != case.before else "undone"


@promise("a call that is interrupted by a signal changes all or nothing", cases)
def signals(found: list[Case], rng: np.random.Generator) -> str:
    """A real signal after a random time."""
    case = found[rng.integers(len(found))]
    path, model = case.folder / "model.fly", own(case.start)

    def handle(_number: int, _frame: Any) -> None:
        raise Injected

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(1e-6, rng.uniform(0, 1.1) * case.seconds))
        case.call(model, path)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Injected:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return check(case, model, path)


@promise("a call that fails or is interrupted between any two steps changes all or nothing", cases)
def faults(found: list[Case], rng: np.random.Generator) -> str:
    """An interrupt after, or a MemoryError instead of, any call of a function."""
    case = found[rng.integers(len(found))]
    path, model = case.folder / "model.fly", own(case.start)
    _Faults(int(rng.integers(1, case.n_events + 1))).run(lambda: case.call(model, path))
    return check(case, model, path)


def large_model(folder: Path) -> tuple[Any, Any, Any, Path]:
    """One whose table takes 32 MB, so that memory is what it lacks first."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 6)), np.arange(400) % 200
    model = flybloom.FlyBloomClassifier(40_000, n_winners=16, encoding="none", random_state=0)
    model.fit(X, y).partial_fit(X[:1], y[:1]).forget(X[:1], y[:1])
    model.save(folder / "model.fly")
    return pickle.dumps(model), X, y, folder / "model.fly"


@promise("a call that runs out of memory changes all or nothing", large_model, share=0.5)
def memory(prepared: tuple[Any, Any, Any, Path], rng: np.random.Generator) -> str:
    """The memory of the process is limited, for the time of the call, to little more than it has."""
    start, X, y, path = prepared
    model, full = own(start), pickle.loads(start)  # noqa: S301
    call = [
        lambda m: m.partial_fit(X, y),
        lambda m: m.partial_fit(X[:5], np.arange(200, 205)),
        lambda m: m.forget(X[:300], y[:300]),
        lambda m: m.merge(full),
        lambda m: m.save(path),
    ][rng.integers(5)]
    expected = own(start)
    call(expected)
    before, after = bits(model), bits(expected)
    del expected
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    failed = False
    try:
        resource.setrlimit(
            resource.RLIMIT_AS, (pages * resource.getpagesize() + int(rng.integers(0, 160 * 2**20)), hard)
        )
        try:
            call(model)
        except MemoryError:
            failed = True
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert bits(model) in (before, after), "torn"
    assert bits(flybloom.load(path)) in (before, after), "the file is torn"
    model.partial_fit(X[:1], y[:1])
    return "refused" if failed else "done"
