"""Learn Digits, write a report on rows never seen, and take pictures of it where there is a Chromium.

    python examples/report.py FOLDER

Writes FOLDER/report.html and report.json, and report-desktop.png, report-phone.png and report-dark.png.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from flybloom import FlyBloomClassifier
from flybloom.report import facts, render

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
PICTURES = {
    "desktop": ("1100,2700",),
    "phone": ("400,2700",),
    "dark": ("1100,2700", "--blink-settings=preferredColorScheme=0"),
}


def take_pictures(page: Path) -> None:
    """Let Chromium draw the page at the width of a desktop and of a phone, and in dark colours."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("No Chromium found: no pictures taken.")
        return
    for name, (window, *more) in PICTURES.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            picture = page.with_name(f"report-{name}.png")
            options = [f"--user-data-dir={profile}", f"--window-size={window}", *more, f"--screenshot={picture}"]
            subprocess.run([browser, *FLAGS, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
            print(picture)


def main(folder: Path) -> None:
    """Learn, find facts, write the page, take pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = FlyBloomClassifier(random_state=0).fit(X_train, y_train)
    model.temperature = 0.05
    found = facts(model, X_test, y_test, title="Digits, half of them never seen", image_shape=(8, 8))
    (folder / "report.json").write_text(json.dumps(found, indent=1))
    page = (folder / "report.html").resolve()
    page.write_text(render(found), encoding="utf-8")
    print(page)
    take_pictures(page)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
