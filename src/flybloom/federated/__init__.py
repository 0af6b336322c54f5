"""Parties that count where their rows are, and add up: plainly, with noise of their own, or under masks.

All parties share a seed, sizes and an encoding, so that they hash alike. Counts add up, so one round is enough, and the
sum is what one machine with all rows would have counted, bit for bit.
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
