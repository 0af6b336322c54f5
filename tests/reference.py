"""The paper in plain numpy: slow, obvious, read beside the paper. Everything fast is compared with this.

M is the projection: one row for each component, with a 1 (or, beyond the paper, a -1) at each connection. Gamma
keeps the rho largest. z counts winners for each class, w is the Fly Bloom Filter, f the novelty.
"""

from __future__ import annotations

import itertools
import math
import statistics
import struct
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from hashlib import blake2b

import numpy as np


def sums(rows, connections, signs):
    """M x for each row, added in the order of the connections: exactly for integers, in float32 for floats."""
    is_float = rows.dtype.kind == "f"
    rows = rows.astype(np.float32) if is_float else rows.astype(object)
    total = np.zeros((len(rows), len(connections)), np.float32 if is_float else object)
    for k in range(connections.shape[1]):
        term = rows[:, connections[:, k]] * signs[:, k].astype(rows.dtype)
        total = total + term
    return total


def winners(rows, connections, signs, rho):
    """Gamma_rho(M x): the components with the largest sums, the largest first, ties to the smaller index."""
    total = sums(rows, connections, signs)
    return np.array([sorted(range(len(row)), key=lambda j, row=row: (-row[j], j))[:rho] for row in total]).reshape(
        -1, rho
    )


def hashes(winners, m):
    """h(x) as rows of zeros and ones."""
    h = np.zeros((len(winners), m), np.int64)
    for row, components in zip(h, winners, strict=True):
        row[components] = 1
    return h


def counts(h, y, classes):
    """How often each component won among the rows of each class (equation 4, the exponent)."""
    return np.array([h[y == label].sum(axis=0) for label in classes])


def values(rows, m, shifts):
    """What each of m components has: columns in steps of 1 / 50, then products of columns so many places apart."""
    rows, d = np.asarray(rows, np.float32), rows.shape[1]
    steps = [[max(-127, min(127, round(float(x * np.float32(50))))) for x in row] for row in rows]
    apart = [0, *shifts]
    return np.array([
        [row[j] if j < d else (row[j % d] * row[(j % d + apart[j // d]) % d] + 64) // 128 for j in range(m)]
        for row in steps
    ], np.int64).reshape(len(rows), m)  # fmt: skip


def pairs(h, weights):
    """How often two components won together, among rows that count as often as their weights say."""
    return h.T @ (h * np.asarray(weights, np.int64)[:, None])


def triangle(square):
    """The cells at and below the diagonal, row after row."""
    return square[np.tril_indices(len(square))]


def filters(z, c):
    """w_ij = (1 - c)^z_ij (equation 4), on the grid."""
    return powers(1.0 - c, z)


def powers(base, z, weight=1):
    """base^(weight z_ij) on the grid."""
    found = {n: grid_weight(exponent(base, n * Fraction(float(weight)))) for n in np.unique(z).tolist()}
    return np.array([found[n] for n in z.ravel().tolist()]).reshape(z.shape)


def exponent(base, n):
    """Minus the logarithm of base^n, with 40 decimal digits."""
    with localcontext(prec=40):
        if n == 0:
            return Decimal(0)
        return -exact_log(Fraction(float(base))) * n.numerator / n.denominator if base > 0 else Decimal("inf")


def grid_weight(x):
    """e^-x to the nearest multiple of 2^-30; from x = 16 on 120, less 15 for each time that x doubles, down to 0."""
    with localcontext(prec=40):
        if x < 16:
            return round((-x).exp() * 2**30) / 2**30
        if x >= 4096:
            return 0.0
        return (120 - round((x / 16).ln() / Decimal(2).ln() * 15)) / 2**30


def counted_weights(weights, unit):
    """Weights in 1/1024 of the weight that counts as one row: the float nearest to each ratio, to a whole number."""
    return np.array([round(Fraction(float(weight) / unit) * 1024) for weight in weights])


def fractional_filters(z, c):
    """w_ij = (1 - c)^(z_ij / 1024): filters of counts in 1/1024 of a row."""
    return powers(1.0 - c, z, 1 / 1024)


def weighted_filters(z, c, weights):
    """w_ij = (1 - c)^(weight_i z_ij): filters in which a row of class i counts as weight_i rows."""
    return np.array([powers(1.0 - c, row, weight) for row, weight in zip(z, weights, strict=True)])


def balanced_weights(y):
    """The weight of each class that makes all count the same: n / (L n_l)."""
    classes, n = np.unique(y, return_counts=True)
    return [len(y) / (len(classes) * int(of_class)) for of_class in n]


def binary_filters(h, y, classes):
    """w_i starts as all ones, then w_i AND NOT h(x) for each row of class i (algorithm 1)."""
    w = np.ones((len(classes), h.shape[1]), bool)
    for row, label in zip(h, y, strict=True):
        w[list(classes).index(label)] &= ~row.astype(bool)
    return w


def novelty(w, winners):
    """f_i(x) = w_i . h(x) / rho (equation 3)."""
    f = np.zeros((len(winners), len(w)))
    for r in range(winners.shape[1]):
        f = f + w[:, winners[:, r]].T
    return f / winners.shape[1]


def linear_scores(winners, weights, intercept):
    """The weights of each row's winners, added without rounding, and the intercept."""
    exact = [[Fraction(float(w)) for w in row] for row in weights]
    start = [Fraction(float(b)) for b in intercept]
    sums = [[float(sum((exact[j][c] for j in row), b)) for c, b in enumerate(start)] for row in winners.tolist()]
    return np.array(sums).reshape(len(winners), weights.shape[1])


def bayes_weights(z, weights=None, smoothing=0.1):
    """What component j says of class i: log of its wins over those in other classes, in units of 2^-18.

    `z` are counts of shape (n_classes, m); a row of a class may count as `weights` rows. With 40 decimal digits.
    """
    weights = [1] * len(z) if weights is None else weights
    wins = [[Fraction(int(n)) * Fraction(float(w)) for n in row] for row, w in zip(z, weights, strict=True)]
    given = Fraction(smoothing)
    result = []
    for i in range(len(wins)):
        result.append([])
        for j in range(len(wins[0])):
            total = sum(row[j] for row in wins)
            result[i].append(round((exact_log(total + given) - exact_log(total - wins[i][j] + given)) * 2**18))
    return np.array(result)


def bayes_intercept(class_count, rho, m, weights=None, smoothing=0.1):
    """What is added to the sums of each class: as many winners, drawn from all wins, would say nothing; in units."""
    weights = [1] * len(class_count) if weights is None else weights
    rows = [Fraction(int(n)) * Fraction(float(w)) for n, w in zip(class_count, weights, strict=True)]
    total, given = sum(rows) * rho, Fraction(smoothing) * m
    parts = [exact_log((sum(rows) - n) * rho + given) - exact_log(total + given) for n in rows]
    return np.array([round((part if n else -128) * rho * 2**18) for part, n in zip(parts, rows, strict=True)])


def exact_log(value):
    """The natural logarithm of a fraction, with 40 decimal digits."""
    with localcontext(prec=40):
        return (Decimal(value.numerator) / Decimal(value.denominator)).ln()


def coarse(mean, variance):
    """A mean and a deviation on the grids of encoders: powers of the fourth root of two, and eighths of them."""
    if not variance:
        steps = 0
    else:
        with localcontext(prec=60):
            logarithm = (Decimal(variance.numerator) / Decimal(variance.denominator)).ln() / Decimal(2).ln()
            steps = round(logarithm * 2)  # four times half of it
    scale = math.ldexp(2.0 ** (steps % 4 / 4), steps // 4)
    return round(Fraction(mean) / Fraction(scale) * 8) * (scale / 8), scale


def standardise(rows, weights=None):
    """Columns minus their mean, over their deviation, both from exact sums and on a coarse grid; float32."""
    found = encoded_columns(rows, weights)
    columns = [
        ((column - mean) * (1.0 / deviation)).astype(np.float32)
        for column, (mean, deviation) in zip(np.asarray(rows, np.float64).T, found, strict=True)
    ]
    return np.stack(columns, axis=1)


def whole_center(rows, others, weights):
    """Other rows, column by column, less the exact weighted mean of the rows, rounded to the nearest even number."""
    columns = []
    for column, other in zip(np.asarray(rows, np.float64).T, others.T, strict=True):
        met = [(int(w), Fraction(float(x))) for w, x in zip(weights, column, strict=True) if not np.isnan(x)]
        n = max(1, sum(w for w, _ in met))
        centre = round(sum((w * x for w, x in met), Fraction(0)) / n)
        columns.append([x - centre if isinstance(x, float) else int(x) - centre for x in other.tolist()])
    return np.array(columns).T


def philox(counter, key):
    """Philox4x32-10 (Salmon and others, 2011) with Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def words(seed, j, purpose, version=1):
    """The stream of random words of component j."""
    block = 0
    while True:
        yield from philox([block, j, purpose, version], [seed & 0xFFFFFFFF, seed >> 32])
        block += 1


def connections(seed, d, m, s):
    """The first s of a random permutation of the features for each component, and a sign for each connection."""
    features, signs = np.zeros((m, s), np.int64), np.ones((m, s), np.int64)
    for j in range(m):
        permutation, stream = list(range(d)), words(seed, j, 0)
        for k in range(s):
            left = d - k
            product = next(stream) * left
            while product % 2**32 < (2**32 - left) % left:  # the few products that would favour some choices
                product = next(stream) * left
            partner = k + product // 2**32
            permutation[k], permutation[partner] = permutation[partner], permutation[k]
        features[j] = permutation[:s]
        stream = words(seed, j, 1)
        bits = [word >> bit & 1 for word in (next(stream) for _ in range(-(-s // 32))) for bit in range(32)]
        signs[j] = [-1 if bit else 1 for bit in bits[:s]]
    return features, signs


def cuts(values, weights=None, n=15):
    """Where so many equal parts of the values of a column end: halfway to the next larger value, if there is one."""
    weights = [1] * len(values) if weights is None else weights
    copies = sorted(float(v) for v, w in zip(values, weights, strict=True) for _ in range(int(w)))
    distinct, found = sorted(set(copies)), []
    for part in range(1, n + 1):
        at = distinct.index(copies[-(-part * len(copies) // (n + 1)) - 1])
        at = max(min(at, len(distinct) - 2), 0)
        found.append((distinct[at] + distinct[min(at + 1, len(distinct) - 1)]) / 2)
    largest = max(abs(cut) for cut in found)
    if largest == 0:
        return found
    step = 2.0 ** (math.floor(math.log2(largest)) + 1) / 64
    return [round(cut / step) * step for cut in found]


def ferns(seed, chances, n_ferns, n_tests, n_cuts=15):
    """Column and cut of each test of each fern: columns by their chances, cuts alike."""
    tickets = [column for column, chance in enumerate(chances) for _ in range(chance)]
    drawn = []
    for j in range(n_ferns):
        stream = words(seed, j, 2)
        drawn.append(
            [(tickets[next(stream) * len(tickets) >> 32], next(stream) * n_cuts >> 32) for _ in range(n_tests)]
        )
    return drawn


def fern_cells(row, drawn, cuts_of_columns, first):
    """The winner of each fern: the tests that a row passes, as the digits of a number."""
    cells = []
    for fern in drawn:
        passed = [row[column] > cuts_of_columns[column][cut] for column, cut in fern]
        cells.append(
            first + len(cells) * 2 ** len(fern) + sum(2**at for at, is_passed in enumerate(passed) if is_passed)
        )
    return cells


def cosines(w):
    """Cosine of each pair of rows of w, inner products added component by component."""
    products = np.zeros((len(w), len(w)))
    for column in w.T:
        products = products + np.outer(column, column)
    norms = np.where(np.diag(products) > 0, np.sqrt(np.diag(products)), 1.0)
    similarity = products / norms[:, None] / norms
    similarity = np.clip((similarity + similarity.T) / 2, 0.0, 1.0)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def feature_shares(row, winners, weights, connections, signs):
    """Each winner's weight over rho, given to the features that lifted its sum, in proportion to how much they did."""
    shares = [0.0] * len(row)
    for j in winners:
        part = float(weights[j]) / len(winners)
        lifts = [max(float(row[f]) * int(sign), 0.0) for f, sign in zip(connections[j], signs[j], strict=True)]
        total = 0.0
        for lift in lifts:
            total += lift
        for f, lift in zip(connections[j], lifts, strict=True):
            shares[f] += part * (lift / total) if total > 0 else part / len(lifts)
    return shares


def class_profiles(rates, connections, signs, d):
    """Each component's rate in each class, added to its features with their signs."""
    profiles = np.zeros((len(rates), d))
    for j in range(len(connections)):
        for f, sign in zip(connections[j], signs[j], strict=True):
            profiles[:, f] += rates[:, j] * sign
    return profiles


def recovering_novelty(winners, learned, positions, now, c, epoch, n_ages):
    """Novelty when the row learned as number p has lost part of its effect: 1 - c (n_ages - age) / n_ages per win.

    Age is the number of epochs of `epoch` rows that have begun since; `winners` are scored after `now` rows.
    """
    result = []
    for row in winners:
        total = 0.0
        for j in row:
            x = Decimal(0)
            for age in range(n_ages):
                n_wins = sum(
                    j in won for won, p in zip(learned, positions, strict=True) if now // epoch - p // epoch == age
                )
                x += exponent(1.0 - c * (n_ages - age) / n_ages, Fraction(n_wins))
            total += grid_weight(x)
        result.append(total / len(row))
    return np.array(result)


def hadamard(values):
    """The Walsh-Hadamard transform by the textbook's three loops, in the type of the values."""
    values = values.copy()
    h = 1
    while h < len(values):
        for i in range(0, len(values), 2 * h):
            for j in range(i, i + h):
                values[j], values[j + h] = values[j] + values[j + h], values[j] - values[j + h]
        h *= 2
    return values


def densify(rows, signs):
    """Random signs, zeros up to the next power of two, the transform, over the root of the size; row by row."""
    size = 1
    while size < rows.shape[1]:
        size *= 2
    result = np.zeros((len(rows), size), rows.dtype)
    result[:, : rows.shape[1]] = rows * signs.astype(rows.dtype)
    return np.array([hadamard(row) * rows.dtype.type(size**-0.5) for row in result]).reshape(-1, size)


def simhash_scores(rows, y, classes, directions, queries):
    """SBFC: which bits of SimHash no row of the class has, and how many of those each query has."""
    h, g = rows @ directions.T > 0, queries @ directions.T > 0
    w = binary_filters(h, y, classes)
    return np.array([[int((filter_ & row).sum()) for filter_ in w] for row in g])


def encoded_columns(rows, weights=None):
    """Mean and deviation of each column on a coarse grid, without missing values; (0, 1) where there are none."""
    return [coarse(mean, variance) for mean, variance in moments(rows, weights)]


def moments(rows, weights=None):
    """Mean and variance of each column as fractions, without missing values."""
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    found = []
    for column in np.asarray(rows, np.float64).T:
        pairs = [(w, Fraction(float(x))) for w, x in zip(weights, column, strict=True) if not math.isnan(x)]
        n = max(1, sum(w for w, _ in pairs))
        mean = Fraction(sum(w * x for w, x in pairs)) / n
        found.append((mean, Fraction(sum(w * (x - mean) ** 2 for w, x in pairs)) / n))
    return found


def content_hash(row, label=None):
    """64 bits that tell a row and its label from others: the bits of its values, mixed by place."""
    word, first, second = 2**64 - 1, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

    def mixed(bits):
        bits = (bits ^ (bits >> 30)) * first & word
        bits = (bits ^ (bits >> 27)) * second & word
        return bits ^ (bits >> 31)

    total = 0
    for place, value in enumerate(row, start=1):
        bits = 0x7FF8000000000000 if math.isnan(value) else struct.unpack("<Q", struct.pack("<d", value or 0.0))[0]
        bits = (bits ^ (bits >> 32)) * first & word
        total += (bits ^ (bits >> 29)) * (mixed(place * 0x9E3779B97F4A7C15 & word) | 1)
    if label is not None:
        text = repr(label if isinstance(label, str) else float(label))
        total += int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
    return mixed(total & word)


def sketch(rows, y, weights, most, least=0):
    """How often each of the distinct labelled rows with the smallest hashes came, of all and of each class."""
    found = {}
    labels = [None] * len(rows) if y is None else y.tolist()
    for row, label, weight in zip(np.asarray(rows, np.float64).tolist(), labels, weights, strict=True):
        if weight > 0:
            kept = found.setdefault(content_hash(row, label), [row, label, 0])
            kept[2] += int(weight)
    kept, of_class = [], Counter()
    for place, key in enumerate(sorted(found)):
        if place < most or of_class[found[key][1]] < least:
            kept.append(found[key])
        of_class[found[key][1]] += 1
    return kept


def without_outliers(rows, weights=None):
    """Mean and deviation of each column; of values cut off at both ends where outliers make the deviation."""
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    found = []
    for column, (mean, variance) in zip(np.asarray(rows, np.float64).T, moments(rows, weights), strict=True):
        values = sorted(x for x, w in zip(column, weights, strict=True) for _ in range(w) if not math.isnan(x))
        n = len(values)
        if n:
            low, high = values[n // 200], values[n - 1 - n // 200]
            cut = [[x if math.isnan(x) else min(max(x, low), high)] for x in column]
            ((bulk_mean, bulk_variance),) = moments(cut, weights)
            if values[n // 4] < values[n - 1 - n // 4] and variance > 64 * bulk_variance:
                found.append(coarse(bulk_mean, bulk_variance))
                continue
        found.append(coarse(mean, variance))
    return found


def clipped(rows, weights=None, clip=2.5):
    """Columns minus their mean, over their deviation, cut off; float32, missing values stay missing."""
    columns = []
    for column, (mean, deviation) in zip(np.asarray(rows, np.float64).T, without_outliers(rows, weights), strict=True):
        with np.errstate(over="ignore"):  # rows of no weight may be that far away
            scaled = ((column - mean) * (1.0 / deviation)).astype(np.float32)
        columns.append([x if math.isnan(x) else min(max(x, np.float32(-clip)), np.float32(clip)) for x in scaled])
    return np.array(columns, np.float32).T


def hats(value, k, limit):
    """How high each of k hat functions on even knots from -limit to limit is at a value, in float32."""
    limit, one = np.float32(limit), np.float32(1)
    at = (value + limit) * (np.float32(k - 1) / (np.float32(2) * limit))
    left = min(int(at), k - 2)
    heights = [np.float32(0)] * k
    heights[left + 1] = min(at - np.float32(left), one)
    heights[left] = one - heights[left + 1]
    return heights


def soft_bins(rows, k, limit, weights=None, beside=0):
    """Hats of each value, less the mean of each hat over the rows that have one, in 64ths; zeros where there is none.

    With `beside`, the value itself, times it, comes after its hats.
    """
    beside = [np.float32(beside)] if beside else []
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    blocks = []
    for column in rows.T:
        heights = [None if math.isnan(x) else hats(x, k, limit) for x in column]
        known = [(w, h) for w, h in zip(weights, heights, strict=True) if h is not None]
        n = max(1, sum(w for w, _ in known))
        means = [
            np.float32(round(sum((w * Fraction(float(h[b])) for w, h in known), Fraction()) / n * 64) / 64)
            for b in range(k)
        ]
        blocks.append(
            [
                [np.float32(0)] * (k + len(beside))
                if h is None
                else [x - m for x, m in zip(h, means, strict=True)] + [value * times for times in beside]
                for value, h in zip(column, heights, strict=True)
            ]
        )
    return np.array(blocks, np.float32).transpose(1, 0, 2).reshape(len(rows), -1)


def normals(rows, weights, prior, strength, most=2, laps=6):
    """Means, covariances and shares of one or two normals that are likely to have made rows with gaps.

    One is found first, then split along its longest direction. A row counts as likely as it comes from a normal, and
    the prior covariance as much as `strength` rows.
    """
    d = rows.shape[1]
    weights = np.asarray(weights) * (len(rows) / max(sum(weights), 1))
    found = [(np.zeros(d), prior, 1.0)]
    for n in range(1, most + 1):
        if n == 2:
            mean, covariance, _ = found[0]
            direction = np.linalg.matrix_power(covariance, 32)[np.diag(covariance).argmax()]  # about the longest
            direction /= np.linalg.norm(direction)
            step = 0.8 * np.sqrt(direction @ covariance @ direction) * direction
            found = [(mean - step, covariance, 0.5), (mean + step, covariance, 0.5)]
        for _ in range(laps):
            likely = np.array([memberships(row, found) for row in rows]) * weights[:, None]
            total = likely.sum(axis=0)
            better = []
            for k, (mean, covariance, _) in enumerate(found):
                seen = [expectation(row, mean, covariance) for row in rows]
                middle = sum(w * x for w, (x, _) in zip(likely[:, k], seen, strict=True)) / total[k]
                spread = sum(
                    w * (np.outer(x - middle, x - middle) + rest)
                    for w, (x, rest) in zip(likely[:, k], seen, strict=True)
                )
                share = (total[k] + 1) / (total.sum() + n)
                better.append((middle, (spread + strength * prior) / (total[k] + strength), share))
            found = better
    return found


def expectation(row, mean, covariance):
    """What a normal expects of a row with gaps, and the covariance of what is missing."""
    gap = np.isnan(row)
    there = covariance[np.ix_(~gap, ~gap)]
    factor = covariance[np.ix_(gap, ~gap)] @ np.linalg.inv(there)
    filled, rest = row.astype(float), np.zeros_like(covariance)
    filled[gap] = mean[gap] + factor @ (filled - mean)[~gap]
    rest[np.ix_(gap, gap)] = covariance[np.ix_(gap, gap)] - factor @ covariance[np.ix_(~gap, gap)]
    return filled, rest


def memberships(row, found):
    """How likely a row comes from each normal."""
    logs = []
    for mean, covariance, share in found:
        there = ~np.isnan(row)
        apart, part = (row - mean)[there], covariance[np.ix_(there, there)]
        logs.append(math.log(share) - 0.5 * (apart @ np.linalg.inv(part) @ apart + np.linalg.slogdet(part)[1]))
    likely = np.exp(np.array(logs) - max(logs))
    return likely / likely.sum()


def fill(rows, y, weights, *, by_class):
    """Rows whose gaps are what the normals of all classes, or of all rows together, expect there."""
    rows, weights, d = rows.astype(float), np.asarray(weights), rows.shape[1]

    def different(some):
        kept = sketch(rows[some], y[some], weights[some], len(rows))
        return np.array([row for row, _, _ in kept]), np.array([weight for _, _, weight in kept])

    everything = weights > 0
    [(_, prior, _)] = normals(*different(everything), np.eye(d), 0.1 * d, most=1)
    groups = [everything & (y == c) for c in np.unique(y[everything])] if by_class else [everything]
    found = []
    for some in groups:
        part = weights[some].sum() / weights.sum()
        found += [(mean, c, share * part) for mean, c, share in normals(*different(some), prior, float(d))]
    filled = []
    for row in rows:
        value = sum(p * expectation(row, m, c)[0] for p, (m, c, _) in zip(memberships(row, found), found, strict=True))
        filled.append(np.where(np.isnan(row), np.clip(value, -8, 8), row))
    return np.array(filled, np.float32)


def relevance(rows, y, power, limit, weights=None, n_bins=1, n_places=None):
    """The root of the share of variance between classes, of columns and squares, less chance, to a power; largest 1."""
    n_places = n_bins if n_places is None else n_places
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    n, classes = sum(weights), sorted({label for label, w in zip(y.tolist(), weights, strict=True) if w})
    spare = len(classes) - 1
    shares = []
    for column in rows.T:
        whole = [0 if math.isnan(x) else int(np.rint(min(max(x * np.float32(128 / limit), -128), 128))) for x in column]
        both = []
        for power_of in (1, 2):
            values = [(w, q**power_of, label) for w, q, label in zip(weights, whole, y.tolist(), strict=True)]
            mean = Fraction(sum(w * v for w, v, _ in values), n)
            spread = sum(w * (v - mean) ** 2 for w, v, _ in values)
            between = Fraction(0)
            for label in classes:
                rows_of = sum(w for w, _, own in values if own == label)
                between += rows_of * (Fraction(sum(w * v for w, v, own in values if own == label), rows_of) - mean) ** 2
            both.append(between / spread if spread else Fraction(0))
        shares.append(both)
    found = []
    for f, both in enumerate(shares):
        chance = Fraction(spare + (2 * math.sqrt(2 * spare) if n_bins == 1 else 0)) / n
        beyond = min(max((max(both) - chance) / (1 - chance), 0), 1) if chance < 1 else 0
        if n_bins > 1:
            first, free = f // n_places * n_places, spare * (n_bins - 1)
            if sum(values for values, _ in shares[first : first + n_bins]) * n <= free + 3 * math.sqrt(2 * free):
                beyond = 0
        found.append(math.sqrt(beyond) ** power)
    told, free = [share for both in shares for share in both], spare
    if n_bins > 1:
        told = [sum(values for values, _ in shares[f : f + n_bins]) for f in range(0, len(shares), n_places)]
        free = spare * (n_bins - 1)
    log = len(told).bit_length() * math.log(2)
    if max(told) * n <= free + 2 * math.sqrt(free * log) + log:  # what the strongest of as many has by chance
        found = [0.0] * len(found)
    largest = max(found)
    return np.array([x / largest for x in found] if largest > 0 else [1.0] * len(found))


def image_contrast(rows, height, width, channels):
    """How much more neighbours in an image go together than pixels a row below and half a row aside."""
    live = rows.std(axis=0) > 0
    scaled = np.where(live, (rows - rows.mean(axis=0)) / np.where(live, rows.std(axis=0), 1), 0).clip(-2.5, 2.5)

    def contrast(values):
        def correlation(down, right):
            pairs = [
                ((i * width + j) * channels + c, ((i + down) * width + j + right) * channels + c)
                for i in range(height - down)
                for j in range(width - right)
                for c in range(channels)
            ]
            found = []
            for a, b in pairs:
                size = np.sqrt((values[:, a] ** 2).sum() * (values[:, b] ** 2).sum())
                found += [(values[:, a] * values[:, b]).sum() / size] if size > 0 else []
            return np.mean(found) if found else 0.0

        return min(correlation(0, 1), correlation(1, 0)) - max(correlation(1, width // 2), 0)

    return max(contrast(scaled), contrast(scaled - scaled.mean(axis=1, keepdims=True)))


def covariance(rows, weights=None):
    """Covariance of columns as whole numbers of 1/256, at most 16 either way, from exact sums."""
    weights = [1] * len(rows) if weights is None else [int(w) for w in weights]
    whole = [[0 if math.isnan(x) else int(np.rint(min(max(float(x) * 256, -4096), 4096))) for x in row] for row in rows]
    n, d = sum(weights), rows.shape[1]
    mean = [Fraction(sum(w * q[f] for w, q in zip(weights, whole, strict=True)), n) for f in range(d)]
    return np.array(
        [
            [
                float(
                    Fraction(sum(w * q[f] * q[g] for w, q in zip(weights, whole, strict=True)), n) - mean[f] * mean[g]
                )
                for g in range(d)
            ]
            for f in range(d)
        ]
    )


def window_connections(seed, shape, m, s):
    """Connections from a random window of a grid, which has room for them, with Python's integers."""
    height, width, channels = (*shape, 1, 1)[:3]
    sides = [(max(1, (side + 4) // 9), max(1, (side + 1) // 2)) for side in (height, width)]
    if sides[0][1] * sides[1][1] * channels < s:
        sides = [(sides[0][0], height), (sides[1][0], width)]
    features, signs = np.zeros((m, s), np.int64), np.ones((m, s), np.int64)

    def below(limit, stream):
        product = next(stream) * limit
        while product % 2**32 < (2**32 - limit) % limit:
            product = next(stream) * limit
        return product // 2**32

    for j in range(m):
        stream = words(seed, j, 0, version=2)
        while True:
            a, b = (least + below(most - least + 1, stream) for least, most in sides)
            if a * b * channels >= s:
                break
        top, left = below(height - a + 1, stream), below(width - b + 1, stream)
        places = [
            ((top + r) * width + left + c) * channels + k for r in range(a) for c in range(b) for k in range(channels)
        ]
        for k in range(s):
            partner = k + below(len(places) - k, stream)
            places[k], places[partner] = places[partner], places[k]
        features[j] = places[:s]
        signs[j] = [-1 if (j + k) % 2 else 1 for k in range(s)]
    return features, signs


def certified(low, high, weights, intercept, own, rho, ferns=()):
    """Whether class `own` has the largest sum for every set of winners that sums between the bounds allow.

    A set of rho components can win if each of them can reach, at its best, what every other one is at its worst; of the
    cells of a fern, any one that is possible.
    """
    m = len(low)
    for chosen in itertools.combinations(range(m), rho):
        others = [j for j in range(m) if j not in chosen]
        if all(high[j] >= low[i] for j in chosen for i in others):
            for cells in itertools.product(*ferns):
                sums = [b + sum(weights[j][i] for j in (*chosen, *cells)) for i, b in enumerate(intercept)]
                if any(sums[i] >= sums[own] for i in range(len(sums)) if i != own):
                    return False
    return True


def table_columns(rows, kinds, weights, most):
    """What a table becomes, of cells as numbers: each category a column of zeros and ones, dates as their parts."""
    columns = []
    for j, kind in enumerate(kinds):
        cells = [row[j] for row in rows]
        if kind == "number":
            columns.append(cells)
        elif kind == "date":
            columns += date_columns(cells, weights)
        else:
            count = Counter()
            for value, weight in zip(cells, weights, strict=True):
                if not math.isnan(value) and weight > 0:
                    count[value] += int(weight)
            ranked = sorted(count, key=lambda value: (-count[value], value))
            together = ranked[most - 1 :] if len(ranked) > most else []
            groups = [[value] for value in sorted(set(ranked) - set(together))] + (
                [sorted(together)] if together else []
            )
            shown = groups[:1] if len(groups) == 2 else groups
            for group in shown:
                columns.append([float(v in group) if v in count else np.nan for v in cells])
    return np.array(columns, float).T.reshape(len(rows), len(columns))


def date_columns(seconds, weights):
    """The time, and its place in the year, the week and the day on two waves of straight lines; what differs only."""

    def parts(value):
        when = datetime.fromisoformat("1970-01-01") + timedelta(seconds=value)
        of_day = timedelta(hours=when.hour, minutes=when.minute, seconds=when.second, microseconds=when.microsecond)
        day = of_day / timedelta(days=1)
        days = when.timetuple().tm_yday - 1, when.weekday()
        return {"year": (days[0], (days[0] + day) / 366), "week": (days[1], (days[1] + day) / 7), "day": (day, day)}

    def wave(place):
        place = place % 1
        return 1 - 4 * place if place <= 0.5 else 4 * place - 3

    known = [value for value, weight in zip(seconds, weights, strict=True) if not math.isnan(value) and weight > 0]
    columns = [list(seconds)] if len(set(known)) > 1 else []
    for part in ("year", "week", "day"):
        if len({parts(value)[part][0] for value in known}) > 1:
            columns += [
                [np.nan if math.isnan(v) else wave(parts(v)[part][1] + shift) for v in seconds] for shift in (0, 0.75)
            ]
    return columns or [list(seconds)]


def leverage(learned_winners, winners, n_components, alpha):
    """The leverage that each row would have if it were learned, from its winners and those of the learned rows."""
    learned, rows = (
        (np.arange(n_components) == w[:, :, None]).sum(axis=1).astype(float) for w in (learned_winners, winners)
    )
    inverse = np.linalg.inv(learned.T @ learned + alpha * np.eye(n_components))
    leverage = np.array([row @ inverse @ row for row in rows])
    return leverage / (1 + leverage)


def cell_weights(n, side):
    """The weights of pixels in n overlapping cells side by side, in 64ths, by their distance to the middle of each."""
    middles = [(cell + 0.5) * side / n - 0.5 for cell in range(n)]
    places = [min(max(place, middles[0]), middles[-1]) for place in range(side)]
    return [[round(max(0, 1 - abs(place - middle) * (n / side)) * 64) / 64 for place in places] for middle in middles]


def gradient_histograms(image):
    """Square roots of the sums of gradients by cell and direction, then the brightness of patches, in float32.

    `image` has the shape (height, width, channels). A direction responds to gradients less than 30 degrees away.
    """
    f, (height, width, channels) = np.float32, image.shape
    image = image.astype(f)
    known = np.where(np.isnan(image), f(0), image)

    def in_order(values):
        total = f(0)
        for value in values:
            total = total + value
        return total

    grey = [[in_order(image[y, x]) for x in range(width)] for y in range(height)]
    half, root = f(0.5), f(math.sqrt(0.75))
    cosines = [f(1), root, half, f(0), -half, -root, f(-1), -root, -half, f(0), half, root]

    def response(y, x, k):
        right = grey[y][min(x + 1, width - 1)] - grey[y][max(x - 1, 0)]
        down = grey[min(y + 1, height - 1)][x] - grey[max(y - 1, 0)][x]
        right, down = (f(0) if math.isnan(value) else value for value in (right, down))
        along = right * cosines[k] + down * cosines[k - 3]
        return max(along - root * np.sqrt(right * right + down * down), f(0))

    def pooled(values, rows, columns):
        sums = [in_order(f(weight) * values[y][x] for y, weight in enumerate(rows)) for x in range(width)]
        return in_order(f(weight) * sums[x] for x, weight in enumerate(columns))

    down, across = (cell_weights(min(6, max(side // 2, 1)), side) for side in (height, width))
    responses = [[[response(y, x, k) for x in range(width)] for y in range(height)] for k in range(12)]
    out = [np.sqrt(pooled(responses[k], a, b)) for a in down for b in across for k in range(12)]
    down, across = (cell_weights(min(8, side), side) for side in (height, width))
    return np.array(out + [pooled(known[..., c], a, b) for c in range(channels) for a in down for b in across], f)


def quantiles_of_skewed(values, weights):
    """The rounded quantiles at 5, 25, 50, 75 and 95 % of a column, or None if it is not skewed."""
    known = sorted(
        (float(value), float(weight)) for value, weight in zip(values, weights, strict=True) if not np.isnan(value)
    )
    if not known:
        return None
    found = []
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        upto, total = 0.0, sum(weight for _, weight in known)
        for value, weight in known:
            upto += weight
            if upto >= share * total:
                found.append(value)
                break
    total = sum(weight for _, weight in known)
    mean = sum(weight * value for value, weight in known) / total
    deviation = math.sqrt(sum(weight * (value - mean) ** 2 for value, weight in known) / total)
    skewness = sum(weight * (value - mean) ** 3 for value, weight in known) / total
    if not (abs(skewness) > deviation**3 and found[0] < found[-1]):
        return None
    gaps = [2.0 ** (np.rint(np.log2(max(b - a, 2.0**-6)) * 4) / 4) for a, b in itertools.pairwise(found)]
    middle = np.rint(found[2] / min(gaps) * 8) * min(gaps) / 8
    return [middle - gaps[1] - gaps[0], middle - gaps[1], middle, middle + gaps[2], middle + gaps[2] + gaps[3]]


def straightened(value, quantiles):
    """A value where quantiles are those of a normal distribution, linearly between and beyond them."""
    scores = [statistics.NormalDist().inv_cdf(share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    k = min(max(sum(value > q for q in quantiles) - 1, 0), 3)
    slope = (scores[k + 1] - scores[k]) / (quantiles[k + 1] - quantiles[k])
    return scores[k] + slope * (value - quantiles[k])
