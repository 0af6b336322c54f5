"""Winners in ONNX operators: a chain of additions in the order of the connections, then TopK.

A reduction would be shorter, but runtimes may add in any order; a chain gives the same bits. TopK breaks ties by the
smaller index, as flybloom does.
"""

from __future__ import annotations

import numpy as np

from flybloom.core.hashing.hasher import Hasher
from flybloom.export.encoding import encoded
from flybloom.export.graph import Graph, Value


def winners(graph: Graph, hasher: Hasher, X: Value, dtype: str) -> Value:
    """Return the winners of each row as int64, by descending sum."""
    rows = encoded(graph, hasher.encoder, X, dtype)
    projection, values = hasher.projection, rows.values
    if projection.signed:
        values = graph.node("Concat", values, graph.node("Neg", values), axis=1)
    links = projection.packed_connections.transpose(1, 0, 2).reshape(projection.n_connections, -1)
    links = links[:, : projection.n_components]
    small = np.uint16 if links.max() <= np.iinfo(np.uint16).max else np.int32  # as it is stored, and not as it is used
    total = None
    for features in links.astype(small):
        places = graph.cast(graph.constant(features), "int32")
        term = graph.node("Gather", values, places, axis=1)
        total = term if total is None else graph.node("Add", total, term)
    assert total is not None  # noqa: S101 - there is at least one connection
    k = graph.constant([hasher.n_winners], np.int64)
    return graph.nodes("TopK", total, k, n_outputs=2, axis=1, largest=1, sorted=1)[1]


def hashes(graph: Graph, n_components: int, won: Value) -> Value:
    """Return binary hashes as float32."""
    shape = graph.node("Concat", graph.node("Shape", won, end=1), graph.constant([n_components], np.int64), axis=0)
    nothing = graph.node("Expand", graph.constant(np.float32(0)), shape)
    ones = graph.node("Expand", graph.constant(np.float32(1)), graph.node("Shape", won))
    return graph.node("ScatterElements", nothing, won, ones, axis=1)
