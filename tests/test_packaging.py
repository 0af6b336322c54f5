"""What users install: wheel and sdist in clean environments, with little, with the oldest versions; and what types say.

Opt in with ``-m slow``; the package registry is needed.
"""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FIT = """
import sys, numpy as np, flybloom
X = np.random.default_rng(0).standard_normal((90, 6)); y = np.arange(90) % 3
model = flybloom.FlyBloomClassifier(256, n_winners=8, random_state=0).fit(X, y)
model.save(sys.argv[1] + "/first.fly")
pairs = flybloom.FlyRidgeClassifier(256, n_winners=8, random_state=0).fit(X, y)
pairs.freeze().save(sys.argv[1] + "/pairs.fly")
assert (flybloom.load(sys.argv[1] + "/first.fly").predict(X) == model.predict(X)).all()
print(*model.predict(X), *pairs.predict(X))
"""
PREDICT = """
import sys, numpy as np
from flybloom.export import predictor
X = np.random.default_rng(0).standard_normal((90, 6))
print(*(label for name in ("first", "pairs") for label in predictor.load(f"{sys.argv[1]}/{name}.fly").predict(X)))
assert not {"numba", "scipy", "sklearn"} & set(sys.modules)
"""
WRONG = """
from flybloom import FlyBloomClassifier
good = FlyBloomClassifier(64)
FlyBloomClassifier(64, n_winners="many")  # arg-type
FlyBloomClassifier(64, class_weight="equal")  # arg-type
FlyBloomClassifier(64, scaling="robust")  # call-arg
FlyBloomClassifier(64, 32)  # call-arg
FlyBloomClassifier(64, winners=3)  # call-arg
good.predict()  # call-arg
good.explain([[0.0]], kind="cosine")  # arg-type
"""


def python_in(folder, *packages):
    """A clean environment with these packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    if packages:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def run(python, code, *arguments, cwd):
    """What code prints, in isolation: no path but that of the environment."""
    done = subprocess.run([python, "-I", "-c", code, *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, capture_output=True)
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(built, tmp_path_factory):
    """What an install of the wheel without extras predicts, and the files it wrote."""
    folder = tmp_path_factory.mktemp("wheel")
    python = python_in(folder / "venv", built[".whl"])
    return run(python, FIT, folder, cwd=folder), folder


def test_the_wheel_has_what_it_needs_and_no_more(expected):
    """Types, templates and profiles are there; tests are not."""
    package = next((expected[1] / "venv").rglob("site-packages/flybloom"))
    for name in ("py.typed", "report/page.html.jinja", "paper/profiles/quick.toml"):
        assert (package / name).exists(), name
    assert not list(package.parent.glob("tests*"))
    assert (expected[1] / "venv" / "bin" / "flybloom").exists()


def test_the_sdist_installs_and_gives_the_same(built, expected, tmp_path):
    """Built where it is installed."""
    assert run(python_in(tmp_path / "venv", built[".gz"]), FIT, tmp_path, cwd=tmp_path) == expected[0]


def test_the_predictor_needs_numpy_and_safetensors(built, expected, tmp_path):
    """Less than 100 MB, with the same labels."""
    python = python_in(tmp_path / "venv", "--no-deps", built[".whl"], "numpy", "safetensors")
    assert run(python, PREDICT, expected[1], cwd=tmp_path) == expected[0]
    site = next((tmp_path / "venv").rglob("site-packages"))
    ours = [path for path in site.rglob("*") if path.is_file() and path.relative_to(site).parts[0][:3] != "pip"]
    assert sum(path.stat().st_size for path in ours) < 100e6


def test_the_oldest_versions_that_are_allowed(built, expected, tmp_path):
    """Each dependency at its lowest version gives the same bits."""
    oldest = [re.sub(">=", "==", dependency) + ".*" for dependency in PROJECT["dependencies"]]
    python = python_in(tmp_path / "venv", "--only-binary", ":all:", built[".whl"], *oldest)
    assert run(python, FIT, tmp_path, cwd=tmp_path) == expected[0]


def test_the_recipe_of_conda_has_the_same_dependencies():
    """And the same version."""
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    wanted = {re.sub(r"([<>=]+)", r" \1", dependency) for dependency in PROJECT["dependencies"]}
    listed = re.search(r"  run:\n((?:    - .*\n)+)", recipe)[1]
    assert {line[6:] for line in listed.splitlines()} == {*wanted, f"python {PROJECT['requires-python']}"}


def test_type_checkers_find_what_is_wrong(tmp_path):
    """Each line is refused, for the reason it says."""
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", tmp_path / "wrong.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = dict(re.findall(r"wrong\.py:(\d+): error: .*\[(.*)\]", done.stdout))
    lines = enumerate(WRONG.splitlines(), 1)
    assert found == {str(at): line.split("# ")[1] for at, line in lines if "# " in line}, done.stdout
