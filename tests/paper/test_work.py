"""Units of work: done once, done again when something changes, and the same on any number of processes."""

import json
import shutil
from dataclasses import replace

import pytest

from flybloom.exceptions import CheckpointError
from flybloom.paper.experiment import Experiment, Summary
from flybloom.paper.experiments import agreement
from flybloom.paper.run import run_experiment
from flybloom.paper.work import Unit, run_units


def square(x, log=None, data=None):
    """What the units here do; `log` is a file that tells how often."""
    if log is not None:
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{x}\n")
    return {"square": x * x, "data": data}


def units(tmp_path, *numbers):
    """One unit for each number."""
    return [Unit(f"part/{x}", square, {"x": x, "log": str(tmp_path / "log")}) for x in numbers]


def runs(tmp_path):
    """The numbers that were squared, in order."""
    return [int(line) for line in (tmp_path / "log").read_text().split()]


def test_what_was_done_is_not_done_again(tmp_path):
    """Whatever the order; results come in the order that was asked for."""
    told = []
    first = run_units(units(tmp_path, 1, 2), tmp_path / "out")
    again = run_units(units(tmp_path, 3, 2, 1), tmp_path / "out", on_progress=lambda *args: told.append(args))
    assert runs(tmp_path) == [1, 2, 3]
    assert list(again) == ["part/3", "part/2", "part/1"]
    assert {**first, "part/3": {"square": 9, "data": None}} == again
    assert told == [("done before", 2, 3), ("part/3", 3, 3)]


def test_work_that_breaks_keeps_what_was_done(tmp_path):
    """The next run goes on after it."""
    broken = Unit("part/none", square, {"x": None})
    with pytest.raises(TypeError):
        run_units([*units(tmp_path, 1), broken, *units(tmp_path, 2)], tmp_path / "out")
    run_units(units(tmp_path, 1, 2), tmp_path / "out")
    assert runs(tmp_path) == [1, 2]


def test_other_arguments_are_run_anew(tmp_path):
    """And replace what was kept."""
    out = tmp_path / "out"
    unit = Unit("a", square, {"x": 2})
    assert run_units([unit], out)["a"]["square"] == 4
    assert run_units([replace(unit, arguments={"x": 3})], out)["a"]["square"] == 9
    assert json.loads((out / "raw.json").read_text())["a"]["arguments"] == {"x": 3}


def test_the_folder_of_data_is_given_but_not_kept(tmp_path):
    """The same data elsewhere are no reason to run again."""
    unit = Unit("a", square, {"x": 2}, data="here")
    assert run_units([unit], tmp_path)["a"]["data"] == "here"
    assert run_units([replace(unit, data="there")], tmp_path)["a"]["data"] == "here"  # the result stays


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"arguments": {}}'])
def test_a_broken_result_is_refused_with_advice(tmp_path, content):
    """Rather than overwritten."""
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / "a.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"a\.json is not the result .* Remove it"):
        run_units([Unit("a", square, {"x": 2})], tmp_path)


def test_the_file_of_all_units_is_enough(tmp_path):
    """Without the files of the single units nothing is run again; results of other arguments do not count."""
    first = run_units(units(tmp_path, 1, 2), tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "units")
    assert run_units(units(tmp_path, 1, 2), tmp_path / "out") == first
    assert runs(tmp_path) == [1, 2]
    assert run_units([Unit("part/1", square, {"x": 5})], tmp_path / "out")["part/1"]["square"] == 25


def test_processes_give_the_same_results(tmp_path):
    """In the same order."""
    sizes = {"rows": {"n_rows": 2, "n_features": 40, "n_ones": 10}, "n_trials": 1, "sizes": [64, 2, 8]}
    work = [Unit(name, agreement.run, {"statement": name, **sizes}) for name in ("theorem-3", "corollary")]
    one = run_units(work, tmp_path / "one")
    two = run_units(work, tmp_path / "two", jobs=2)
    assert one == two
    assert list(one) == list(two) == ["theorem-3", "corollary"]
    names = {path.name for path in (tmp_path / "two" / "units").iterdir()}
    assert names == {"theorem-3.json", "corollary.json"}


@pytest.mark.parametrize("key", ["", "a b", "../a b", "/a", "a//b", "a/"])
def test_keys_are_names_of_files(key):
    """Nothing that leaves the folder."""
    with pytest.raises(ValueError, match="words joined by slashes"):
        Unit(key, square)


def test_two_units_of_one_name_are_refused(tmp_path):
    """One would overwrite the other."""
    with pytest.raises(ValueError, match="twice"):
        run_units([Unit("a", square, {"x": 1}), Unit("a", square, {"x": 2})], tmp_path)


@pytest.mark.parametrize(("alone", "expected"), [(True, 1), (False, 3)])
def test_an_experiment_that_must_run_alone_gets_one_process(tmp_path, monkeypatch, alone, expected):
    """However many are allowed."""
    seen = []
    monkeypatch.setattr("flybloom.paper.run.run_units", lambda *_, jobs, **__: seen.append(jobs) or {})
    experiment = Experiment("e", "", (), lambda *_: [], lambda *_: Summary(), lambda _: {}, "", alone=alone)
    run_experiment(experiment, {}, tmp_path, jobs=3)
    assert seen == [expected]


def test_all_results_are_of_these_units_even_if_none_had_to_be_run(tmp_path):
    """A run of fewer units leaves theirs alone behind; the next one of more has kept the others in ``units/``."""
    for numbers in ((1, 2), (1,), (1, 2)):
        run_units(units(tmp_path, *numbers), tmp_path / "out")
    assert set(json.loads((tmp_path / "out" / "raw.json").read_text())) == {"part/1", "part/2"}
    assert runs(tmp_path) == [1, 2]
