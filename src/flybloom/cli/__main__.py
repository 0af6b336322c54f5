"""``python -m flybloom.cli`` is the same as ``flybloom``."""

from flybloom.cli import main

main()
