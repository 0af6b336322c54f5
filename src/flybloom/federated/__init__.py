"""Federated learning: parties count their own rows, and counts are added plainly, with noise, or under masks.

All parties share a seed, sizes and an encoder. One round is enough, and the sum equals the counts of one machine with
all rows, bit for bit.
"""

from flybloom._internal.deprecated import old_functions
from flybloom.federated.flower import flower_client, flower_strategy
from flybloom.federated.masking import MaskedSum, Party
from flybloom.federated.vectors import counts_to_vector, like, vector_to_model

__all__ = [
    "MaskedSum",
    "Party",
    "counts_to_vector",
    "flower_client",
    "flower_strategy",
    "like",
    "vector_to_model",
]

__getattr__ = old_functions(__name__, {"untaught": "like", "model_of_vector": "vector_to_model"})
