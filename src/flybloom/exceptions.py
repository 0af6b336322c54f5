"""Errors and warnings of flybloom beyond scikit-learn's; each says what was expected, what was got, and what to do."""

from importlib.util import find_spec


class IncompatibleHashError(ValueError):
    """Two models hash differently, so their counts cannot be combined."""


class NeverLearnedError(ValueError):
    """What is to be forgotten cannot have been learned."""


class ModelFileError(ValueError):
    """A file is not a model that this flybloom can read."""


class CheckpointError(ValueError):
    """A training cannot be resumed from a checkpoint."""


class PrivacyError(ValueError):
    """A release would not be private as it was asked for, or go beyond its budget."""


class ReceiptError(ValueError):
    """A receipt of forgetting does not hold, or cannot be given."""


class SourceError(ValueError):
    """A source of data cannot be read, or holds what cannot be learned from."""


class UnreachableError(SourceError):
    """A source of data is on the network, and the network does not answer."""


class SaturationWarning(UserWarning):
    """Filters know so much, or an encoding sees so little, that classes can hardly be told apart."""


def require_extra(module: str, extra: str, owner: str = "This") -> None:
    """Say who needs what and how to install it, if a module of an extra is not there."""
    if find_spec(module) is None:
        msg = f"{owner} needs {module}, which is not installed. Run: pip install 'flybloom[{extra}]'"
        raise ModuleNotFoundError(msg, name=module)
