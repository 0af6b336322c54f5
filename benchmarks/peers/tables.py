"""Results as Markdown: each function takes what a benchmark has saved and returns lines of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from peers.skills import SKILLS

Result = dict[str, Any]


def markdown(head: list[str], lines: list[list[str]]) -> str:
    """Return a table; columns of numbers are set to the right."""
    columns = zip(*lines, strict=True)
    rule = ["---:" if all(cell[:1].isdigit() for cell in cells if cell) else "---" for cells in columns]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def short(value: float | None) -> str:
    """Return a number with two or three significant digits, and nothing for none."""
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def times(value: float) -> str:
    """Return a ratio."""
    return f"{short(value)} x"


def classify_table(result: Result) -> str:
    """Return one data set's comparison; ratios are to the first contestant."""
    found = result["contestants"]
    first_name, first = next(iter(found.items()))
    head = ["", "fit, s", "predict, us a row", "accuracy", "model, MB", "peak, MB", "rows", "asked"]
    lines = [
        [
            name,
            short(r["fit_seconds"]),
            short(r["predict_us"]),
            f"{r['accuracy']:.4f}",
            short(r["bytes"] / 1e6),
            short(r["peak_mb"]),
            str(r["rows"]),
            str(r["queries"]),
            times(r["fit_seconds"] / r["rows"] / (first["fit_seconds"] / first["rows"])),
            times(r["predict_us"] / first["predict_us"]),
        ]
        for name, r in found.items()
    ]
    return markdown([*head, "fit, ratio", "predict, ratio"], lines) + (
        f"\n\nRatios are times per row over those of *{first_name}*: above 1 is slower than it."
    )


def skills_table(result: Result) -> str:
    """Return who can do what."""
    found = result["contestants"]
    return markdown(
        ["", *SKILLS], [[name, *["yes" if s in r["skills"] else "" for s in SKILLS]] for name, r in found.items()]
    )


def tasks_table(result: Result) -> str:
    """Return the accuracy on all digits met so far, after each task of two."""
    n_tasks = len(next(iter(result.values()))["after_task"])
    head = ["accuracy on all digits met so far", *[f"{2 * (at + 1)} digits" for at in range(n_tasks)], "all at once"]
    lines = [
        [
            name,
            *[f"{value:.3f}" for value in found["after_task"]],
            f"{found['all_at_once']:.3f}",
            {True: "yes", False: "no"}.get(found.get("same_bits"), ""),
        ]
        for name, found in result.items()
    ]
    return markdown([*head, "same bits"], lines)


def learning_table(result: Result) -> str:
    """Return the rows per second that each learns, by size of block, and how many times flybloom's that is."""
    found = result["rows_per_second"]
    sizes = list(found["flybloom"])
    head = ["rows/s in blocks of", *sizes, *[f"{size}, ratio" for size in sizes]]
    lines = [
        [
            name,
            *[f"{speeds[size]:.0f}" if size in speeds else "" for size in sizes],
            *[times(speeds[size] / found["flybloom"][size]) if size in speeds else "" for size in sizes],
        ]
        for name, speeds in found.items()
    ]
    return markdown(head, lines)


def latency_table(result: Result) -> str:
    """Return how long one row takes, and how many times SGD's median that is."""
    found = result["latency"]
    sgd = found["SGD, one epoch"]["p50_us"]
    lines = [
        [name, short(r["p50_us"]), short(r["p99_us"]), times(r["p50_us"] / sgd), str(r["calls"])]
        for name, r in found.items()
    ]
    return markdown(["predict one row", "p50, us", "p99, us", "p50 over SGD's", "calls"], lines)


def tune_table(result: Result) -> str:
    """Return how long each search took, and to reach the best accuracy of each."""
    found = result["searches"]
    head = ["", "settings", "all, s", "accuracy, 5 folds", "on new rows"]
    lines = [
        [
            name,
            str(r["settings"]),
            short(r["seconds"]),
            f"{r['cv_accuracy']:.4f}",
            f"{r['test_accuracy']:.4f}",
            *["never" if seconds is None else short(seconds) for seconds in r["seconds_to_reach"].values()],
        ]
        for name, r in found.items()
    ]
    return markdown([*head, *[f"s to {r['cv_accuracy']:.4f}" for r in found.values()]], lines)


def startup_table(result: Result) -> str:
    """Return seconds of imports, first calls and whole processes."""
    lines = [
        [f"import {name}, above Python's own start", short(seconds)] for name, seconds in result["imports"].items()
    ]
    lines += [
        [f"first fit, then predict, of 1000 x 20: {name}", f"{short(calls['fit'])} + {short(calls['predict'])}"]
        for name, calls in result["first_calls"].items()
    ]
    lines += [[f"whole process: {name}", short(seconds)] for name, seconds in result["processes"].items()]
    return markdown(["", "seconds"], [*lines, ["whole process: Python alone", short(result["python"])]])


def claims_table(result: Result) -> str:
    """Return the ratios that flybloom is meant to reach on MNIST with m = 64 d and rho = 64."""
    found = result["contestants"]
    ours = {name: r for name, r in found.items() if name.startswith("flybloom, 64 d")}

    def line(label: str, wanted: str, ratio: Callable[[Result], float]) -> list[str]:
        return [label, wanted, *[times(ratio(r)) for r in ours.values()]]

    def slower(peer: str, key: str, wanted: str) -> list[list[str]]:
        if peer not in found:
            return []
        label = {"predict_us": "predict", "fit_seconds": "fit"}[key]
        return [line(f"{label}: {peer} over flybloom", wanted, lambda r: found[peer][key] / r[key])]

    return markdown(
        ["MNIST", "at least", *[name.removeprefix("flybloom, ") for name in ours]],
        [
            ["accuracy", "about 0.945", *[f"{r['accuracy']:.4f}" for r in ours.values()]],
            *slower("kNN, brute", "predict_us", "25 x"),
            *slower("faiss flat", "predict_us", "25 x"),
            *slower("hnswlib", "predict_us", "1 x"),
            *slower("faiss HNSW", "predict_us", ""),
            *slower("hnswlib", "fit_seconds", "3 x"),
            *slower("faiss HNSW", "fit_seconds", "3 x"),
            line(
                "training rows as float32 over the saved model", "100 x", lambda r: result["float32_bytes"] / r["bytes"]
            ),
            line("training rows as bytes over the saved model", "", lambda r: result["stored_bytes"] / r["bytes"]),
            line(
                "training rows as bytes over the saved model after zlib",
                "",
                lambda r: result["stored_bytes"] / r["deflated_bytes"],
            ),
        ],
    )


def better_table(results: Result) -> str:
    """Return who is more accurate than flybloom's best setting, by data set, of those asked about 1000 rows or more."""
    lines = []
    for name, result in results.items():
        found = {name: r for name, r in result["contestants"].items() if r["queries"] >= 1000}
        ours = max((n for n in found if n.startswith("flybloom")), key=lambda n: found[n]["accuracy"])
        fly = found[ours]
        above = {n: r for n, r in found.items() if r["accuracy"] > fly["accuracy"]}
        faster = {n for n, r in above.items() if r["predict_us"] < fly["predict_us"]}
        lines.append(
            [
                name,
                telling(ours, fly),
                "; ".join(telling(n, r) for n, r in above.items() if n in faster) or "none",
                "; ".join(telling(n, r) for n, r in above.items() if n not in faster) or "none",
            ]
        )
    return markdown(["", "flybloom's best", "more accurate and faster to predict", "more accurate, slower"], lines)


def telling(name: str, r: Result) -> str:
    """Return a name with its accuracy and time."""
    return f"{name}: {r['accuracy']:.3f}, {short(r['predict_us'])} us"


def summary_table(result: Result) -> str:
    """Return the few lines of MNIST that the README shows."""
    found = result["contestants"]
    names = [
        "flybloom, pairs, 12288", "flybloom, pairs", "flybloom, frozen pairs, 2048", "flybloom",
        "flybloom, 64 d, s = 24", "kNN, brute", "faiss flat", "hnswlib",
        "SGD, one epoch", "MLP, one epoch",
    ]  # fmt: skip
    lines = [
        [
            name.replace("64 d, s = 24", "m = 64 d, rho = 64"),
            f"{found[name]['accuracy']:.3f}",
            short(found[name]["fit_seconds"]),
            short(found[name]["predict_us"]),
            short(found[name]["bytes"] / 1e6),
            ", ".join(found[name]["skills"]),
        ]
        for name in names
        if name in found
    ]
    return markdown(["MNIST, one thread", "accuracy", "fit, s", "predict, us a row", "model, MB", "can do"], lines)


def machine_line(machine: Result) -> str:
    """Return the facts of the machine as a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    return f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}; {versions}."
