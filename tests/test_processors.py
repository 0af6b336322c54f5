"""The same bits on other processors, and in threads that other libraries have told to be fast and wrong."""

import hashlib
import itertools
import os
import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest

from flybloom import FlyBloomClassifier, FlyBloomClassifierCV, FlyBloomNovelty, FlyHash
from flybloom.report import class_similarity
from forgetting import after_forgetting

ROWS = np.random.default_rng(0).standard_normal((120, 12))
LABELS = np.arange(120) % 3
DIGEST = "import sys; sys.path.insert(0, sys.argv[1]); from test_processors import digest; print(digest())"
FLUSH = """
#include <xmmintrin.h>
void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
void keep(void) { _mm_setcsr(_mm_getcsr() & ~0x8040); }
int mode(void) { return _mm_getcsr() & 0x8040; }
"""


def answers():
    """Arrays that models give, with counts so large that weights are too small for normal floats."""
    found, X = [], ROWS
    for encoding, n_jobs in itertools.product(("none", "standard"), (None, 2)):
        settings = {"n_winners": 8, "random_state": 0, "encoding": encoding, "n_jobs": n_jobs}
        model = FlyBloomClassifier(200, decay=0.5, **settings).fit(X, LABELS, sample_weight=np.full(120, 60))
        found += [model.counts_, model.novelty(X), model.predict(X), model.filters_, class_similarity(model)]
        found += [model.explain(X[:3]), model.leave_one_out_novelty(X, LABELS), model.decision_function(X[:1])]
        found += [after_forgetting(model.partial_fit(X, LABELS), X[:9], LABELS[:9]).counts_]
        found += [model.center_, model.scale_]
        found += [FlyHash(200, **settings).fit(X).transform(X).toarray()]
        found += [FlyBloomNovelty(200, **settings).fit(X).novelty(X)]
    search = FlyBloomClassifierCV([200], n_connections=[3], n_winners=[8], decay=[0.5, 0.9], random_state=0)
    found += [search.fit(X, LABELS).oof_novelty_]
    return [np.asarray(0 if array is None else array) for array in found]


def digest():
    """What a classifier says as a few letters: few kernels, because each processor compiles them anew."""
    digest = hashlib.sha256()
    for scaling in ("none", "standard"):
        model = FlyBloomClassifier(200, n_winners=8, random_state=0, encoding=scaling).fit(ROWS, LABELS)
        for array in (model.counts_, model.novelty(ROWS), model.predict(ROWS)):
            digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


@pytest.mark.parametrize(
    "processor", [{"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_FEATURES": "-fma,-avx2,-avx512f"}], ids=str
)
def test_other_processors_give_the_same_bits(processor):
    """Without wide vectors, and without multiplications that round once with the addition after them."""
    environment = {**os.environ, **processor}
    found = subprocess.run(
        [sys.executable, "-c", DIGEST, os.path.dirname(__file__)],  # noqa: PTH120
        env=environment, capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert found.stdout.strip() == digest()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a register of x86")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_threads_that_flush_small_floats_to_zero_give_the_same_bits(tmp_path):
    """As libraries that were built with -ffast-math make the thread that loads them."""
    ctypes = pytest.importorskip("ctypes")
    (tmp_path / "flush.c").write_text(FLUSH, encoding="ascii")
    library = tmp_path / "flush.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "flush.c"], check=True)  # noqa: S607
    other = ctypes.CDLL(str(library))
    expected = answers()
    other.flush()
    try:
        assert np.array([1e-310])[0] * 1.0 == 0  # this thread is told
        found = answers()
        assert other.mode() == 0x8040  # and is left as it was
    finally:
        other.keep()
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)
