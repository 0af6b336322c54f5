"""The package as such: what it exports, what it imports, and where it can live."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flybloom

FIT = """
import numpy as np, flybloom
X = np.random.default_rng(0).standard_normal((80, 6)); y = np.arange(80) % 2
flybloom.FlyBloomClassifier(random_state=0).fit(X, y).predict(X)
"""
COMPILED = """
import importlib, pkgutil
from flybloom.core import _kernels
names = [module.name for module in pkgutil.iter_modules(_kernels.__path__) if not module.name.startswith("_")]
kernels = [
    kernel for module in [importlib.import_module("flybloom.core._kernels." + name) for name in names]
    for kernel in vars(module).values() if hasattr(kernel, "signatures")
]
"""


def run(code, **environment):
    """Run Python code in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_public_names_are_those_in_all():
    """Sorted, and nothing else without an underscore but modules."""
    hidden = {"Any", "TYPE_CHECKING", "import_module"}  # what the module itself needs
    public = [
        name for name in dir(flybloom) if not name.startswith("_") and not inspect.ismodule(getattr(flybloom, name))
    ]
    assert sorted(set(public) - hidden) == flybloom.__all__
    assert sorted(flybloom._MODULES) == flybloom.__all__


def members_of(public):
    """The methods and properties of a class, its own and those it inherits from flybloom."""
    for kind in inspect.getmro(public) if inspect.isclass(public) else ():
        if kind.__module__.startswith("flybloom"):
            for name, value in vars(kind).items():
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    yield name, value


def test_every_public_name_is_documented():
    """Classes, their methods and their properties, inherited ones too; parameters and attributes by name."""
    for name in flybloom.__all__:
        public = getattr(flybloom, name)
        for parameter in set(inspect.signature(public).parameters):
            assert f"\n    {parameter} : " in public.__doc__, (name, parameter)
        for method, value in members_of(public):
            assert value.__doc__, (name, method)
            if inspect.isfunction(value):
                for parameter in list(inspect.signature(value).parameters)[1:]:
                    assert f"\n        {parameter} : " in value.__doc__, (name, method, parameter)


def test_inherited_members_are_seen():
    """Merging and saving come from common code, and are documented all the same."""
    assert {"merge", "save", "partial_fit", "n_components_"} <= {
        name for name, _ in members_of(flybloom.FlyBloomNovelty)
    }


def test_import_is_light_and_compiles_nothing():
    """No frames, plots or clusters but what scikit-learn itself imports; no kernel has been compiled."""
    code = f"""
import sys, sklearn.model_selection
before = set(sys.modules)
import flybloom, flybloom.blocks, flybloom.estimators.learning.train
assert flybloom.FlyBloomClassifier and flybloom.FlyBloomClassifierCV and flybloom.FlyBloomNovelty and flybloom.load
heavy = {{"dask", "distributed", "matplotlib", "numba", "pandas", "polars", "pyarrow", "rich", "typer"}}
found = heavy & (set(sys.modules) - before)
assert not found, found
{COMPILED}
assert kernels and not any(kernel.signatures for kernel in kernels)
"""
    run(code)


def test_the_next_process_compiles_nothing(tmp_path):
    """Every kernel that fit and predict need comes from the cache; once numba has begun, at once."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "FLYBLOOM_LOOPS": "compiled"}
    run(FIT, **environment)
    code = f"""
{FIT}
{COMPILED}
used = [kernel for kernel in kernels if kernel.signatures]
assert len(used) > 5, used
missed = [kernel.__name__ for kernel in used if kernel.stats.cache_misses]
assert not missed, missed
"""
    run(code, **environment)
    waits_for_none = f"""
{FIT}
{COMPILED}
used = {{kernel.__name__ for kernel in kernels if kernel.signatures}}
assert {{"dense_winners", "looked_up_sums"}} <= used, used
"""
    run(waits_for_none, NUMBA_CACHE_DIR=str(tmp_path), FLYBLOOM_LOOPS="auto")


def test_a_read_only_install_works(tmp_path):
    """Where no cache can be written, kernels are compiled for the process alone."""
    package = tmp_path / "site" / "flybloom"
    shutil.copytree(Path(flybloom.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = f"""
import sys
sys.path.insert(0, {str(package.parent)!r})
sys.dont_write_bytecode = True
from numba.core import caching
def refuse(self):
    raise OSError("read-only")
for locator in vars(caching).values():
    if isinstance(locator, type) and issubclass(locator, caching._CacheLocator):
        locator.ensure_cache_path = refuse
{FIT}
assert flybloom.__file__.startswith({str(package.parent)!r})
"""
    run(code, PYTHONPATH="", FLYBLOOM_LOOPS="compiled")
    assert not list(package.rglob("*.nbi"))


def test_few_specialisations_are_compiled():
    """Validation pins the types, so that a kernel is compiled for few of them."""
    code = f"""
import numpy as np, flybloom
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 90)
for dtype in (np.float64, np.float32, np.int64, np.int32, np.uint8, bool):
    X = rng.integers(0, 2, (90, 7)).astype(dtype)
    for order in "CF":
        for rows in (X, X / 2) if X.dtype.kind == "f" else (X,):  # floats that are whole numbers are hashed as integers
            small = flybloom.FlyBloomClassifier(500, n_winners=4, encoding="none")
            small.fit(np.array(rows, order=order), y).predict(X)
{COMPILED}
sizes = {{kernel.__name__: len(kernel.signatures) for kernel in kernels}}
assert sizes["dense_winners"] == 2, sizes
assert sizes["add_counts"] == 1, sizes
"""
    run(code, FLYBLOOM_LOOPS="compiled")


def test_few_rows_are_predicted_before_anything_is_compiled(tmp_path):
    """Loading a model and scoring a few rows does not even import numba."""
    X = np.random.default_rng(0).standard_normal((80, 6))
    flybloom.FlyBloomClassifier(random_state=0).fit(X, np.arange(80) % 2).save(tmp_path / "model.fly")
    code = f"""
import sys, numpy as np, flybloom
model = flybloom.load({str(tmp_path / "model.fly")!r})
model.predict(np.zeros((3, 6))), model.predict_proba(np.ones((1, 6)))
assert "numba" not in sys.modules
"""
    run(code)


def test_import_loads_nothing_of_the_paper():
    """Finding old names of its modules does not need them."""
    run("import sys, flybloom; assert not [name for name in sys.modules if name.startswith('flybloom.paper')]")


@pytest.mark.parametrize(
    ("line", "name", "module"),
    [
        ("import flybloom.datasets as found", "datasets", ""),
        ("import flybloom.theory.agreement as found", "theory", ".agreement"),
        ("from flybloom import theory as found", "theory", ""),
        ("from flybloom.datasets import groups as found", "datasets", ".groups"),
        ("from flybloom.datasets.groups import fits; found = sys.modules[fits.__module__]", "datasets", ".groups"),
        ("from flybloom.baselines import *; found = sys.modules[best_of.__module__]", "baselines", ".search"),
        ("import flybloom.evaluate as found", "evaluate", ""),
        ("from flybloom import predictor as found", "predictor", ""),
        ("import flybloom.privacy.sizes as found", "privacy", ".sizes"),
    ],
)
def test_old_names_of_modules_warn_once(tmp_path, line, name, module):
    """They are the modules with the new names, and the line of the user is told."""
    script = tmp_path / "user.py"
    elsewhere = {"evaluate": "streams.evaluate", "predictor": "export.predictor", "privacy": "core.privacy"}
    new = elsewhere.get(name, f"paper.{name}")
    again = f"import flybloom.{name}{module}, flybloom.{new}{module} as expected"
    script.write_text(f"import sys\n{line}\n{again}\nassert found is expected is flybloom.{name}{module}\n")
    done = subprocess.run([sys.executable, "-W", "always", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Warning: ") == 1
    assert f"{script}:2: FutureWarning: flybloom.{name} is flybloom.{new} now." in done.stderr


def test_what_never_was_in_a_moved_module_is_missing():
    """As in any other module."""
    code = """
try:
    import flybloom.theory.nothing
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert run(code) == "flybloom.paper.theory.nothing\n"


def test_version_is_that_of_the_changelog():
    """The newest release there is this version; what is not released yet stands above it."""
    changelog = (Path(__file__).parents[1] / "CHANGELOG.md").read_text()
    releases = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert next(name for name in releases if name != "Unreleased") == flybloom.__version__
