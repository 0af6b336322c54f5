"""The errors that flybloom raises beyond scikit-learn's; each says what was expected, what was got, and what to do."""


class DifferentConstructionError(ValueError):
    """Two models hash differently, so their counts cannot be combined."""


class NeverLearnedError(ValueError):
    """What is to be forgotten cannot have been learned."""


class ModelFileError(ValueError):
    """A file is not a model that this flybloom can read."""
