"""Exceptions and warnings of flybloom. Messages say what was expected, what was received, and what to do."""

from importlib.util import find_spec


class IncompatibleHashError(ValueError):
    """Two models hash differently, so their counts cannot be combined."""


class NeverLearnedError(ValueError):
    """Rows to forget cannot have been learned."""


class ModelFileError(ValueError):
    """A file is not a model that this flybloom can read."""


class CheckpointError(ValueError):
    """A training cannot be resumed from a checkpoint."""


class PrivacyError(ValueError):
    """A release would not satisfy the requested privacy, or would exceed its budget."""


class ReceiptError(ValueError):
    """A receipt of forgetting is invalid, or cannot be issued."""


class SourceError(ValueError):
    """A data source cannot be read or learned."""


class UnreachableError(SourceError):
    """A data source on the network cannot be reached."""


class SaturationWarning(UserWarning):
    """Filters are saturated, or the encoding cannot separate the classes."""


def require_extra(module: str, extra: str, owner: str = "This") -> None:
    """Raise ImportError with installation instructions if a module of an extra is missing."""
    if find_spec(module) is None:
        msg = f"{owner} needs {module}, which is not installed. Run: pip install 'flybloom[{extra}]'"
        raise ModuleNotFoundError(msg, name=module)
