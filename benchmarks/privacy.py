"""Accuracy against epsilon of private releases, on MNIST and 10 tables, 10 draws of noise each.

The ranges of columns are taken as known: the encoding is fitted to rows drawn evenly from them, and so knows nothing of
the data. On MNIST also with an encoding that was fitted to 1000 public rows, which are not learned. Sizes follow
`private_sizes`. Peers are measured by privacy_peers.py, in an environment of their own. Writes results/privacy.json,
and goes on where it stopped; --figure draws docs/images/privacy.png; --sizes prints what sizes do on MNIST.

    python benchmarks/privacy.py [--figure] [--sizes]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from flybloom import Encoding, FlyBloomClassifier, private_sizes
from privacy_sets import DELTA, EPSILONS, TABLES, load, public_rows, ranges

RESULTS = Path(__file__).parent / "results" / "privacy.json"
DRAWS = 10
MECHANISMS = {"laplace": 0.0, "gaussian": DELTA}


def fixed_encoding(X: np.ndarray) -> object:
    """Return an encoding that knows the ranges of columns, and nothing else."""
    low, high = ranges(X)
    drawn = np.random.default_rng(0).uniform(low, high, (2000, X.shape[1]))
    return Encoding("standard", bins=5 if X.shape[1] <= 30 else 0).fit(drawn)


def measured(name: str, encoder: object) -> dict[str, object]:
    """Return the accuracy without privacy, and of 10 draws for each mechanism and epsilon."""
    X, y, X_test, y_test = load(name)
    classes = np.unique(y)
    plain = FlyBloomClassifier(4096, n_winners=128, encoding=encoder, decay=0.05, random_state=0).fit(X, y)
    found: dict[str, object] = {"no privacy": plain.score(X_test, y_test)}
    for mechanism, delta in MECHANISMS.items():
        for epsilon in EPSILONS:
            sizes = private_sizes(len(y), classes.size, epsilon, delta)
            model = FlyBloomClassifier(**sizes, encoding=encoder, random_state=0).fit(X, y)
            releases = [
                model.release(epsilon, delta=delta, classes=classes, random_state=draw) for draw in range(DRAWS)
            ]
            scores = [release.score(X_test, y_test) for release in releases]
            found[f"{mechanism} {epsilon:g}"] = [round(score, 4) for score in scores]
    return found


def print_sizes() -> None:
    """Print the accuracy of sizes on MNIST, for a table of docs/benchmarks/privacy.md."""
    X, y, X_test, y_test = load("mnist")
    encoder = Encoding.parse("standard+relevance+rotation=50").fit(*public_rows())
    print("| m | rho |", " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS), "|")
    for m in (256, 512, 1024, 2048, 4096):
        for share in (64, 32, 16, 8):
            model = FlyBloomClassifier(m, n_winners=m // share, encoding=encoder, random_state=0).fit(X, y)
            row = []
            for epsilon in EPSILONS:
                releases = (
                    model.release(epsilon, delta=DELTA, classes=range(10), random_state=draw) for draw in range(3)
                )
                row.append(float(np.mean([release.score(X_test, y_test) for release in releases])))
            print(f"| {m} | {m // share} |", " | ".join(f"{score:.3f}" for score in row), "|", flush=True)


def draw(results: dict[str, dict[str, object]]) -> None:
    """Draw accuracy against epsilon: MNIST, and the mean over the tables."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    peers = json.loads(RESULTS.with_name("privacy_peers.json").read_text())
    lines = {
        "flybloom, Gaussian (delta 1e-5)": (results, "gaussian"),
        "flybloom, Laplace": (results, "laplace"),
        "diffprivlib GaussianNB": (peers, "GaussianNB"),
        "diffprivlib LogisticRegression": (peers, "LogisticRegression"),
    }
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axis, sets, title in ((axes[0], ("mnist",), "MNIST, 20 000 rows"), (axes[1], TABLES, "mean of 10 tables")):
        for label, (source, model) in lines.items():
            if not all(name in source for name in sets):
                continue
            draws = np.array([[source[name][f"{model} {epsilon:g}"] for epsilon in EPSILONS] for name in sets])
            mean = draws.mean(axis=(0, 2))
            spread = draws.mean(axis=0).std(axis=1)
            axis.errorbar(EPSILONS, mean, spread, marker="o", capsize=2, label=label)
        if sets == ("mnist",):
            public = np.array([results["mnist, public rows"][f"gaussian {epsilon:g}"] for epsilon in EPSILONS])
            axis.errorbar(EPSILONS, public.mean(axis=1), public.std(axis=1), marker="s", label="flybloom, public rows")
        axis.axhline(np.mean([results[name]["no privacy"] for name in sets]), color="grey", ls=":", label="no privacy")
        axis.set(xscale="log", xlabel="epsilon", title=title, xticks=EPSILONS, xticklabels=EPSILONS)
    axes[0].set_ylabel("accuracy")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "images" / "privacy.png", dpi=110)


def main() -> None:
    """Measure what is missing, then print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    given = parser.parse_args()
    if given.sizes:
        print_sizes()
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in (*TABLES, "mnist", "mnist, public rows"):
        if name not in results:
            source = name.partition(",")[0]
            X = load(source)[0]
            is_public = name != source
            encoder = (
                Encoding.parse("standard+relevance+rotation=50").fit(*public_rows()) if is_public else fixed_encoding(X)
            )
            results[name] = measured(source, encoder)
            RESULTS.write_text(json.dumps(results, indent=1))
        cells = [f"{np.mean(value):.3f}" for value in results[name].values()]
        print("|", name, "|", " | ".join(cells), "|", flush=True)
    if given.figure:
        draw(results)


if __name__ == "__main__":
    main()
