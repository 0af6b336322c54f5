"""The quick profile, whole, as a user runs it."""

import json
import subprocess
import sys

from flybloom.paper import EXPERIMENTS


def test_all_of_the_paper_without_any_data(tmp_path):
    """Every experiment leaves results and figures, the page shows them, and a second run has nothing left to do."""
    command = [
        sys.executable,
        "-m",
        "flybloom",
        "reproduce",
        "all",
        "--profile",
        "quick",
        "--output",
        "paper",
        "--json",
    ]
    first = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    told = json.loads(first.stdout)
    page = (tmp_path / "paper" / "index.html").read_text()
    n_figures = 0
    for name in EXPERIMENTS:
        result = json.loads((tmp_path / "paper" / name / "result.json").read_text())
        assert result["tables"]
        assert f'id="{name}"' in page
        n_figures += len(result["figures"])
    assert page.count("data:image/png;base64,") == n_figures >= len(EXPERIMENTS)
    assert len(told["outcomes"]) == told["checks"] > 0
    raw = {name: (tmp_path / "paper" / name / "raw.json").read_bytes() for name in EXPERIMENTS}
    again = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(again.stdout)["outcomes"] == told["outcomes"]
    assert raw == {name: (tmp_path / "paper" / name / "raw.json").read_bytes() for name in EXPERIMENTS}
