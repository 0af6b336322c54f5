"""``python -m flybloom`` is the same as ``flybloom``."""

from flybloom.cli import main

if __name__ == "__main__":
    main()
