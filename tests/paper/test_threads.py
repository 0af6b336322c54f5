"""Threads against processes: what is planned, what speed-up means, and when a check fails."""

import pytest

from flybloom.paper.experiments import threads

SETTINGS = {"names": ["digits", "mnist"], "most_threads": 16, "n_rounds": 2, "seed": 0}


@pytest.mark.parametrize(("cores", "numbers"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4]), (64, [1, 2, 4, 8, 16])])
def test_threads_go_up_to_the_cores(monkeypatch, cores, numbers):
    """Powers of two."""
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    units = threads.plan(SETTINGS, "folder")
    assert [unit.key for unit in units] == ["digits", "mnist"]
    assert all(unit.arguments["numbers"] == numbers for unit in units)


def test_it_runs_alone():
    """Other work would be timed as well."""
    assert threads.EXPERIMENT.alone


def test_a_unit_times_threads_and_processes():
    """As many seconds as rounds, and the same counts on two threads."""
    found = threads.run("digits", [1, 2], n_rounds=1, seed=0)
    assert (found["n"], found["m"], found["s"], found["rho"], found["same"]) == (1797, 16384, 19, 32, True)
    for kind in ("threads", "processes"):
        assert list(found[kind]) == ["1", "2"]
        assert all(len(rounds) == 1 and rounds[0] > 0 for rounds in found[kind].values())


def result(two_threads, *, same=True):
    """One thread takes 10 s, two processes 11 s."""
    return {
        "n": 60000, "m": 170128, "s": 19, "rho": 17, "same": same,
        "threads": {"1": [12.0, 10.0], "2": [two_threads, 99.0]}, "processes": {"1": [10.5, 10.2], "2": [11.0, 12.0]},
    }  # fmt: skip


def test_speed_ups_are_over_the_best_of_one_thread():
    """Of all rounds, in this process or another."""
    summary = threads.summarise(SETTINGS, {"mnist": result(5.5)})
    speeds = summary.numbers["speeds"]["mnist"]
    assert speeds["threads"] == pytest.approx({"1": 1.0, "2": 10 / 5.5})
    assert speeds["processes"]["2"] == pytest.approx(20 / 11)
    assert summary.tables[0].rows == [["mnist", 60000, 170128, 19, 17, 1023.59, 10.0, 102]]
    assert summary.tables[1].rows == [["mnist", 2, 1.97, 1.82, 1.82, 1.0]]


def test_checks_can_fail():
    """By threads that are slow, or a model that differs."""

    def held(**changed):
        return [check.holds for check in threads.summarise(SETTINGS, {"mnist": result(**changed)}).checks]

    assert held(two_threads=5.5) == [True, True]
    assert held(two_threads=7.0) == [True, False]
    assert held(two_threads=5.5, same=False) == [False, True]


def test_the_figure_has_theirs_threads_and_processes():
    """And a line for what would be ideal."""
    summary = threads.summarise(SETTINGS, {"mnist": result(5.0)})
    (axes,) = threads.draw(summary)["threads"].axes
    theirs, processes, ours, _ = axes.lines
    assert theirs.get_ydata()[1] == pytest.approx(1023.59 / 518.85)
    assert processes.get_xdata().tolist() == ours.get_xdata().tolist() == [1, 2]
    assert ours.get_ydata()[1] == 2
