"""A real Chromium that looks at a page, without a window and without a network."""

import html
import json
import shutil
import subprocess

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    """A Chromium, or nothing to test."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium found")
    return path


@pytest.fixture
def title_of(browser):
    """A function that opens a page and returns what its script wrote to the title, as JSON."""

    def title(page, folder, *flags):
        """Write the page to the folder, open it, and read its title."""
        folder.mkdir(exist_ok=True)
        (folder / "page.html").write_text(page, encoding="utf-8")
        options = [f"--user-data-dir={folder / 'profile'}", "--window-size=1400,3200", *flags, "--dump-dom"]
        command = [browser, *FLAGS, *options, (folder / "page.html").as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return json.loads(html.unescape(done.stdout.split("<title>")[1].split("</title>")[0]))

    return title
