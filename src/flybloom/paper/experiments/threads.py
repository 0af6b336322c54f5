"""How training scales with threads, against independent processes: Figure 3."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.paper.charts import COLOURS, new_figure
from flybloom.paper.datasets import load
from flybloom.paper.experiment import Check, Experiment, Figure, Results, Settings, Summary, Table
from flybloom.paper.work import Result, Unit

SIZES = {  # m / d, s / d, rho: Table 6 of the AAAI follow-up
    "digits": (256, 0.3, 32),
    "letter": (1447, 0.5, 221),
    "mnist": (217, 0.025, 17),
    "fashion_mnist": (138, 0.105, 8),
    "cifar10_grey": (217, 0.026, 26),
    "cifar100_grey": (217, 0.026, 26),
}
THEIRS = {  # seconds by number of threads: Table 7 there; 16 cores
    "digits": {1: 3.63, 2: 3.26, 4: 1.84, 8: 1.36, 16: 1.16},
    "letter": {1: 25.72, 2: 14.74, 4: 7.72, 8: 4.06, 16: 2.91},
    "mnist": {1: 1023.59, 2: 518.85, 4: 262.68, 8: 163.75, 16: 122.30},
    "fashion_mnist": {1: 1410.29, 2: 712.98, 4: 360.74, 8: 241.70, 16: 191.15},
    "cifar10_grey": {1: 1300.90, 2: 644.99, 4: 330.35, 8: 207.57, 16: 151.67},
    "cifar100_grey": {1: 1268.86, 2: 649.20, 4: 333.33, 8: 211.20, 16: 162.80},
}
TICKS = [1, 2, 4, 8, 16]
CLOSE = 0.9  # share of what independent processes do that threads must reach
LONG_ENOUGH = 1.0  # seconds on one thread from which that is asked for: shorter fits are mostly start and end
WARM_UP = 200  # rows that are learned first, so that nothing is compiled or loaded while the clock runs


def plan(settings: Settings, data: str | None) -> list[Unit]:
    """Return a unit for each data set, which is timed with 1, 2, 4, ... threads up to the cores there are."""
    most = min(os.cpu_count() or 1, settings["most_threads"])
    numbers = [2**i for i in range(most.bit_length())]
    common = {"numbers": numbers, "n_rounds": settings["n_rounds"], "seed": settings["seed"]}
    return [Unit(name, run, {"name": name, **common}, data) for name in settings["names"]]


class Fit:
    """A fit to be timed: all of it, with the drawing of the connections, as the authors timed theirs."""

    def __init__(self, name: str, seed: int, data: str | None) -> None:
        found = load(name, data)
        self.X, self.y, self.seed = np.ascontiguousarray(found.X), found.y, seed
        times, share, self.n_winners = SIZES[name]
        d = self.X.shape[1]
        self.n_components, self.n_connections = times * d, max(2, int(share * d))
        self._model(1).fit(self.X[:WARM_UP], self.y[:WARM_UP])

    def _model(self, n_jobs: int) -> FlyBloomClassifier:
        return FlyBloomClassifier(
            self.n_components, n_connections=self.n_connections, n_winners=self.n_winners, decay=1.0, signed=False,
            encoding="none", random_state=self.seed, n_jobs=n_jobs,
        )  # fmt: skip

    def __call__(self, n_jobs: int) -> tuple[float, FlyBloomClassifier]:
        """Return the seconds and the model."""
        model = self._model(n_jobs)
        start = time.perf_counter()
        model.fit(self.X, self.y)
        return time.perf_counter() - start, model


def run(name: str, numbers: list[int], n_rounds: int, seed: int, data: str | None = None) -> Result:
    """Return seconds of each round, for threads and for as many independent processes that each do the same fit.

    Both take turns, so that what else the machine does hits them alike.
    """
    fit = Fit(name, seed, data)
    threads: dict[str, list[float]] = {str(number): [] for number in numbers}
    processes: dict[str, list[float]] = {str(number): [] for number in numbers}
    first = fit(1)[1].counts_
    is_same = True
    with _others(max(numbers), name, seed, data) as others:
        for _ in range(n_rounds):
            for number in numbers:
                seconds, model = fit(number)
                threads[str(number)].append(seconds)
                is_same &= bool(np.array_equal(model.counts_, first))
                processes[str(number)].append(_at_once(others[:number]))
    return {
        "n": len(fit.y), "m": fit.n_components, "s": fit.n_connections, "rho": fit.n_winners, "same": is_same,
        "threads": threads, "processes": processes,
    }  # fmt: skip


@contextmanager
def _others(n_processes: int, name: str, seed: int, data: str | None) -> Iterator[list[Connection]]:
    """Start processes that fit on one thread each when told, and stop them at the end."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(n_processes)]
    processes = [context.Process(target=_serve, args=(there, name, seed, data), daemon=True) for _, there in pipes]
    for process in processes:
        process.start()
    for _, there in pipes:
        there.close()
    here = [connection for connection, _ in pipes]
    try:
        for connection in here:
            connection.recv()  # it is ready
        yield here
    finally:
        for connection in here:
            connection.close()
        for process in processes:
            process.join()


def _serve(connection: Connection, name: str, seed: int, data: str | None) -> None:
    """Fit and tell the seconds, as often as asked."""
    fit = Fit(name, seed, data)
    connection.send("ready")
    try:
        while connection.recv():
            connection.send(fit(1)[0])
    except EOFError:  # no more questions
        pass


def _at_once(others: list[Connection]) -> float:
    """Return the seconds of the slowest of processes that start together."""
    for connection in others:
        connection.send(True)
    return max(float(connection.recv()) for connection in others)


def summarise(settings: Settings, results: Results) -> Summary:  # noqa: ARG001
    """Return seconds and speed-ups, theirs beside ours; the best of all rounds, as the machine may do other things."""
    numbers = {name: _speeds(result) for name, result in results.items()}
    return Summary(
        tables=[_time_table(results, numbers), _speed_table(numbers)],
        checks=[check for name, result in results.items() for check in _checks(name, result, numbers[name])],
        numbers={"speeds": numbers},
    )


def _speeds(result: Result) -> dict[str, dict[str, float]]:
    """Return seconds of threads, and speed-ups of threads and of processes over one thread, by their number."""
    seconds = {number: min(rounds) for number, rounds in result["threads"].items()}
    one = min(seconds["1"], *result["processes"]["1"])
    return {
        "seconds": seconds,
        "threads": {number: one / took for number, took in seconds.items()},
        "processes": {number: int(number) * one / min(rounds) for number, rounds in result["processes"].items()},
    }


def _time_table(results: Results, numbers: dict[str, Any]) -> Table:
    """Return how long training takes on one thread."""
    rows = []
    for name, result in results.items():
        theirs, ours = THEIRS[name][1], numbers[name]["seconds"]["1"]
        rows.append(
            [name, result["n"], result["m"], result["s"], result["rho"], theirs, round(ours, 2), round(theirs / ours)]
        )
    header = ["data set", "rows", "m", "s", "rho", "theirs, s", "ours, s", "times as fast"]
    return Table("Training on one thread (their machine is another)", header, rows)


def _speed_table(numbers: dict[str, Any]) -> Table:
    """Return speed-ups by number of threads."""
    rows = []
    for name, speeds in numbers.items():
        for number in (number for number in speeds["threads"] if number != "1"):
            theirs = THEIRS[name][1] / THEIRS[name][int(number)] if int(number) in THEIRS[name] else None
            ours, processes = speeds["threads"][number], speeds["processes"][number]
            rows.append([
                name, int(number), None if theirs is None else round(theirs, 2), round(ours, 2), round(processes, 2),
                round(ours / processes, 2),
            ])  # fmt: skip
    header = ["data set", "threads", "theirs", "threads here", "processes here", "threads / processes"]
    return Table("Speed-up over one thread; processes: as many that know nothing of each other", header, rows)


def _checks(name: str, result: Result, speeds: dict[str, dict[str, float]]) -> list[Check]:
    """Return whether threads scale as well as they can here, and whether the model stays the same."""
    checks = [
        Check(
            f"{name}: the same model on any number of threads",
            "-",
            "equal" if result["same"] else "not equal",
            result["same"],
        )
    ]
    most = max(speeds["threads"], key=int)
    if most == "1" or speeds["seconds"]["1"] < LONG_ENOUGH:
        return checks
    theirs = THEIRS[name].get(int(most))
    said = "-" if theirs is None else f"{THEIRS[name][1] / theirs:.2f}"
    threads, processes = speeds["threads"][most], speeds["processes"][most]
    claim = f"{name}: {most} threads reach {CLOSE:.0%} of what {most} independent processes do"
    ours = f"{threads:.2f}, processes {processes:.2f}"
    return [*checks, Check(claim, said, ours, threads >= CLOSE * processes)]


def draw(summary: Summary) -> dict[str, Figure]:
    """Return speed-ups against the number of threads, a panel for each data set."""
    speeds = summary.numbers["speeds"]
    columns = min(len(speeds), 3)
    figure, axes = new_figure(columns, -(-len(speeds) // columns))
    for ax, (name, of_set) in zip(axes, speeds.items(), strict=False):
        theirs = {number: THEIRS[name][1] / seconds for number, seconds in THEIRS[name].items()}
        ax.plot(list(theirs), list(theirs.values()), color=COLOURS["theirs"], marker="D", ms=4, label="paper, threads")
        for kind, colour, style in (("processes", COLOURS["beyond"], "--"), ("threads", COLOURS["ours"], "-")):
            at = [int(number) for number in of_set[kind]]
            ax.plot(at, list(of_set[kind].values()), color=colour, ls=style, marker="o", ms=4, label=f"here, {kind}")
        ax.plot([1, 16], [1, 16], color="#cccccc", lw=1, zorder=0)
        ax.set(title=f"{name}: {of_set['seconds']['1']:.3g} s on one thread, paper {THEIRS[name][1]:.4g} s")
        ax.title.set_fontsize(9)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.minorticks_off()
        ax.set_xticks(TICKS, TICKS)
        ax.set_yticks(TICKS, TICKS)
        ax.set(xlabel="threads", ylabel="speed-up")
    axes[0].legend(frameon=False, fontsize=8)
    for ax in axes[len(speeds) :]:
        ax.set_axis_off()
    return {"threads": figure}


EXPERIMENT = Experiment(
    "threads",
    "Training on several threads",
    ("Figure 3",),
    plan,
    summarise,
    draw,
    "The settings of the authors' table. All of fit() is timed, with the drawing of the connections, best of several "
    "rounds (theirs: mean of 10, on 16 cores). How much faster two cores are than one depends on the machine, so as "
    "many independent processes, each with the whole fit to itself, show what is possible here: training that splits "
    "without a loss reaches the same speed-up. Nothing else should run at the same time.",
    alone=True,
)
