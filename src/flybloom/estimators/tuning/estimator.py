"""FlyBloomClassifierCV: a whole grid of settings, exactly cross-validated, from one hash for each pair of sizes."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv

from flybloom._internal.memory import available_memory
from flybloom._internal.sklearn_compat import Interval, StrOptions, fit_context, validate_parameter_constraints
from flybloom._internal.typing import Array, Features, Novelty
from flybloom._internal.validation import check_labels, check_new_rows, resolve_seed
from flybloom._internal.watched import is_watched
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.weight_unit import AUTO, unit_for
from flybloom.core.encoding.choice import Wanted, wanted_encoding
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.files.model_file import Parts, describe_inside, restore_inside
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.readout.class_weight import ClassWeight, by_code, check_class_weight, require_weights_for
from flybloom.core.readout.temperature import fitted_temperature
from flybloom.core.readout.weight_table import MAX_LENGTH
from flybloom.estimators.access import reading_learned, with_learned
from flybloom.estimators.base import HASH_PARAMETERS, FlyEstimator, missing_attribute
from flybloom.estimators.classifier import BAYES, CLASSIFIER_PARAMETERS, FILTER, FlyBloomClassifier, resolved_readout
from flybloom.estimators.learned_page import ShowsInside
from flybloom.estimators.scores import FilterScores, Reading
from flybloom.estimators.tuning.grids import ALL_ENCODINGS, NAMES, as_list, candidates, with_ways
from flybloom.estimators.tuning.held_out import Split, fold_splits, leave_one_out, rows_by_class
from flybloom.estimators.tuning.results import HeldOutAnswers, cv_results, make_scorer
from flybloom.estimators.tuning.search import Found, Rows, Search, Way

WORDS = frozenset({"auto", "paper"})
WAYS = ("encoding", "signed")  # of which each value hashes all rows anew
SCORE_ARRAYS = ("cv_scores", "cv_fit_times", "cv_score_times", "oof_novelty")  # of files


class FlyBloomClassifierCV(ShowsInside, FilterScores, ClassifierMixin, FlyEstimator):  # type: ignore[misc]
    """FlyBloomClassifier that chooses its own settings by exact cross-validation.

    Counts add, so the model without a fold is the model of all rows minus the fold's counts, and leave-one-out is the
    whole minus the row itself. Each decay reads the same counts, and fewer winners are the first of more. So the rows
    are hashed once for each encoding and pair of `n_components` and `n_connections`, and every score is that of a model
    which has really been fitted without the rows it is tested on, bit for bit.

    Connections, and what of the encoding does not depend on a label, are shared by the folds. Where the encoding weighs
    columns by their relevance to labels, each fold has an encoding of its own, from the rows it learns, and all rows
    are hashed anew for it; leave-one-out is refused then, because it would take an encoding for each row.

    Parameters
    ----------
    n_components : int, float, list of these, "auto" or "paper", default="auto"
        Numbers of components to try, each as in `FlyBloomClassifier`.

        - If "auto", 2048, 8192 and 32768; of texts 32768 and 131072, see `readout`.
        - If "paper", from 2 to 2048 times the number of features, in steps of 4: a long search for many features.

    n_connections : int, float, list of these, "auto" or "paper", default="auto"
        Numbers of connections to try.

        - If "auto", a quarter, a half, once and twice what `FlyBloomClassifier` takes; of texts 1, 2, 3 and 6.
        - If "paper", 0.1, 0.3 and 0.5 of the features.

    n_winners : int, float, list of these, "auto" or "paper", default="auto"
        Numbers of winners to try. Words leave out what exceeds half of the components.

        - If "auto", 32, 64, 128 and 256; of texts 96, 192, 384 and 768.
        - If "paper", 8, 16, 32, 64, 128 and 256.

    decay : float, list of floats, "auto" or "paper", default="auto"
        Decays to try.

        - If "auto", 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7 and 1; "auto" alone where counts are read by Bayes.
        - If "paper", 0.2, 0.4, 0.6, 0.9 and 1.

    cv : "loo", int, cross-validation generator or iterable, default="loo"
        How rows are held out.

        - If "loo", each row by itself. All rows are then scored together, as one split: that is fair to scores which
          mean little for a single row. Nothing depends on the order of the rows.
        - Anything else is taken as by scikit-learn's GridSearchCV: an int is a number of stratified folds.

    scoring : str, callable or None, default=None
        A scorer's name or a function of (estimator, X, y). None is accuracy. A function is given an estimator that
        answers `predict`, `predict_proba`, `decision_function` and `novelty` for the test rows, with the default
        temperature.

    readout : {"auto", "filter", "bayes"}, default="auto"
        How labels are read from the counts, as in `FlyBloomClassifier`: by "bayes" for texts, sparse rows of more than
        1024 features with ``encoding="auto"``, otherwise by "filter".

    class_weight : "balanced", dict or None, default=None
        How many rows each row of a class counts as when scoring, as in `FlyBloomClassifier`. "balanced" follows from
        the rows that each model has learned, so in every split from those that are not held out.

    signed : bool or list of bool, default=True
        Whether each connection has a random sign, or both to try.

    encoding : str, Encoding, Encoder or list of these, default="auto"
        How columns are transformed before hashing; see `Encoding` and docs/encodings.md. Of a list, each is tried.

        - If "all", "auto", "standard", "bins", "rotation" and "none" are tried, of sparse rows "auto" and "none".

        - If "auto", columns are standardised and clipped at 2.5 deviations. Up to 30 become 5 soft bins each (up to 5
          columns 7) beside themselves, and all are weighed by their relevance to the labels. Rows that are images,
          which is told from the rows, become their 50 leading principal components instead. Sparse rows are taken as
          they are, but for the weights, but not with ``cv="loo"``, where a row would be judged by weights that its
          own label has a part in.
        - If "none", no transformation, as in the paper: integers are summed as integers.
        - Otherwise steps such as "standard", "bins", "relevance" and "rotation", joined by "+".
        - If an `Encoding`, its steps. If a fitted encoder, that encoder.

        Missing values (NaN) that "auto" does not fill from other columns add nothing to a sum. Here "auto" leaves no
        column out, and does not ask neighbours whether bins do harm: labels of held-out rows would have a part in it.

    max_seconds : float or None, default=None
        After so many seconds no further hash is begun, and the best setting so far is taken. All is tried in an order
        that does not depend on the time: each encoding, sign and number of connections with the fewest components
        first, then the best of these with more. ``n_tried_`` says how far it came. None tries everything.

    max_memory : int or None, default=None
        Bytes that a fit may need; see `estimate_memory`. None is what the machine has available. A fit that would need
        more is refused before it starts.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections and of the choice between tied classes. None draws a seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    verbose : bool, default=False
        Whether to show progress, in terminals and notebooks.

    Attributes
    ----------
    best_params_ : dict
        The best of the settings, as they were given.

    best_score_ : float
        Its mean score over the splits.

    best_index_ : int
        Its position in ``cv_results_``.

    best_estimator_ : FlyBloomClassifier
        The model of all rows with the best settings, equal to one that was fitted by itself, with ``temperature_``.

    cv_results_ : dict of arrays
        A column for each key of scikit-learn's GridSearchCV. The times are shares of what settings have in common.

    n_splits_ : int
        Number of splits; 1 for "loo".

    n_tried_ : int
        Number of settings that have been tried. Others have NaN for scores and times in ``cv_results_``.

    temperature_ : float
        The temperature of least log-loss on the held-out rows.

    oof_novelty_ : ndarray of shape (n_samples, n_classes)
        Novelty of each row to each class in models of the best settings that have not seen the row. A row that
        several splits test gets the mean, one that none tests NaN; a class that a model has not met is infinitely
        novel. Where counts are read by Bayes, minus the scores, in units of the temperature.

    oof_decision_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The same as `decision_function` puts it; derived.

    oof_predict_proba_ : ndarray of shape (n_samples, n_classes)
        The same as calibrated probabilities; derived.

    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    n_components_, n_connections_, n_winners_ : int
        Sizes of the best model.

    seed_ : int
        Seed of the connections.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    FlyBloomClassifier : The classifier with settings of your own.

    Notes
    -----
    Let ``Z[j, i]`` count how often component j won among the rows of class i. For a set of rows T held out, the counts
    of the others are ``Z - Z_T``: whole numbers, so the difference is exact. For leave-one-out of a row x of class y it
    is ``Z[j, y] - 1`` for each winner j of x, and Z elsewhere. The docs have a page on it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = FlyBloomClassifierCV([1024, 4096], n_winners=[16, 64], decay=[0.2, 1.0], random_state=0)
    >>> search = search.fit(X[:1000], y[:1000])
    >>> len(search.cv_results_["params"])  # twice n_components, n_winners and decay, and four n_connections
    32
    >>> search.score(X[1000:], y[1000:]) > 0.9
    True
    """

    _is_pickled_as_parts = False  # more is known of a search than files hold
    n_splits_: int
    n_tried_: int
    cv_results_: dict[str, Any]
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    oof_novelty_: Novelty
    temperature_: float
    shown_inside = "best_estimator_"
    best_estimator_: FlyBloomClassifier

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: ["array-like", Integral, Real, StrOptions(set(WORDS))] for name in NAMES},
        **{name: HASH_PARAMETERS[name] for name in ("random_state", "n_jobs")},
        **{name: [*HASH_PARAMETERS[name], list, tuple] for name in WAYS},
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "readout": CLASSIFIER_PARAMETERS["readout"],
        "class_weight": CLASSIFIER_PARAMETERS["class_weight"],
        "cv": ["cv_object", StrOptions({"loo"})],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "max_memory": [Interval(Integral, 1, None, closed="left"), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        n_connections: Any = "auto",
        n_winners: Any = "auto",
        decay: Any = "auto",
        cv: Any = "loo",
        scoring: Any = None,
        readout: Any = "auto",
        class_weight: ClassWeight = None,
        signed: Any = True,
        encoding: Any = "auto",
        max_seconds: float | None = None,
        max_memory: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_connections = n_connections
        self.n_winners = n_winners
        self.decay = decay
        self.cv = cv
        self.scoring = scoring
        self.readout = readout
        self.class_weight = class_weight
        self.signed = signed
        self.encoding = encoding
        self.max_seconds = max_seconds
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Say what FlyBloomClassifier says."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not all(as_list(self.signed))
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Score every setting, and keep the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows, for a `cv` that asks for them.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts when it is learned, as in `FlyBloomClassifier`, and when it is scored: scores of
            scikit-learn take the weights, a function does if it has such a parameter. A row that is held out by itself
            is held out with all its weight.

        Returns
        -------
        FlyBloomClassifierCV
            The fitted estimator itself.
        """
        owner = type(self).__name__
        encodings = [self._wanted(encoding) for encoding in self._encodings()]
        takes_sparse = (any if self._tries_all else all)(encoding.takes_sparse for encoding in encodings)
        X, names, kinds = check_new_rows(X, owner, takes_sparse=takes_sparse)
        y = check_labels(y, X.shape[0])
        unit = unit_for(AUTO, sample_weight)
        weights = unit.counted(sample_weight, X.shape[0])
        classes = np.unique(y[weights > 0])
        codes = np.minimum(
            np.searchsorted(classes, y), classes.size - 1
        )  # of classes of weight 0: any, as they count nowhere
        if classes.size < 2:  # noqa: PLR2004
            msg = (
                f"{owner}.fit needs rows of at least 2 classes. "
                f"Got one class, {classes[0]!r}, instead. Add rows of other classes."
            )
            raise ValueError(msg)
        require_weights_for(self.class_weight, classes, owner)
        rows = Rows(X, y, codes, weights, unit)
        splits = self._splits(rows, groups)
        self._require_memory(X, classes.size)
        self._search(rows, classes, splits, Encoder(X.shape[1], names, kinds=kinds))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn a block of rows with the best model; the first block is searched, as `fit` does.

        What the search found stays as it is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels. New ones may appear in any block but the first.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect; never needed.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; see `fit` for the first block.

        Returns
        -------
        FlyBloomClassifierCV
            The estimator itself.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from flybloom import FlyBloomClassifierCV
        >>> X, y = load_iris(return_X_y=True)
        >>> search = FlyBloomClassifierCV(512, n_winners=16, random_state=0).fit(X[::2], y[::2])
        >>> int(search.partial_fit(X[1::2], y[1::2]).best_estimator_.class_count_.sum())
        150
        """
        if self._hasher is None:
            return self.fit(X, y, sample_weight=sample_weight)
        self.best_estimator_.partial_fit(X, y, classes, sample_weight)
        return self

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        """Whether "auto" weighs columns by their relevance: not where each row is held out by itself."""
        return not isinstance(self.cv, str)

    @property
    def _tries_all(self) -> bool:
        """Whether all encodings are tried that suit the rows."""
        return isinstance(self.encoding, str) and self.encoding == "all"

    def _encodings(self, *, is_sparse: bool = False) -> list[Any]:
        """Return the encodings that are tried, of rows that are sparse or not."""
        if not self._tries_all:
            return as_list(self.encoding)
        return [one for one in ALL_ENCODINGS if not is_sparse or self._wanted(one).takes_sparse]

    def _wanted(self, encoding: Any) -> Wanted:
        """Return what one encoding asks for."""
        return wanted_encoding(encoding, uses_labels=self._uses_labels, selects=False)

    @property
    def _encoding(self) -> Wanted:
        """What the first encoding asks for."""
        return self._wanted(self._encodings()[0])

    def _scoring(self, X: Any) -> AbstractContextManager[tuple[Features, Any]]:
        """Give rows that are to be scored, checked, and what the best model has learned."""
        self._require_hasher()
        scoring: AbstractContextManager[tuple[Features, Any]] = self.best_estimator_._scoring(X)  # noqa: SLF001
        return scoring

    def _reading(self, rows: Features, learned: Any, *, by_filters: bool = False) -> Reading:
        """Return how the best model reads such rows."""
        return self.best_estimator_._reading(rows, learned, by_filters=by_filters)  # noqa: SLF001

    @property
    def oof_decision_(self) -> Array:
        """The decision function of each row in models that have not seen it; derived from ``oof_novelty_``."""
        return self._held_out_answers.decision_function(None)

    @property
    def oof_predict_proba_(self) -> Array:
        """Calibrated probabilities of each row in models that have not seen it; derived from ``oof_novelty_``."""
        return self._held_out_answers.predict_proba(None)

    @property
    def _held_out_answers(self) -> HeldOutAnswers:
        """What models of the best settings say of the rows that they have not seen."""
        return HeldOutAnswers(self.classes_, lambda: self.oof_novelty_, temperature=self.temperature_)

    def estimate_memory(self, n_samples: int, n_features: int, n_classes: int, sparse: bool = False) -> int:
        """Return about how many bytes `fit` needs beside the rows themselves, at most.

        For n rows, L classes and the largest m, s, rho and number of decays C that are tried, these are::

            4 n rho          the winners of one pair of m and s
            2 * 4 m L        the counts, and those of the best setting so far; twice that where they are read by Bayes
            2 m s            the connections (4 bytes each from 2**15 features on; 8 more for sparse rows)
            2 * 8 n L        the held-out novelties, and those of the best setting so far
            8 n C            the predictions
            24 * 2**20       for each thread, the block of rows that it works on
            192 (n + L)      with class weights, their tables

        Parameters
        ----------
        n_samples : int
            Number of rows.
        n_features : int
            Number of columns.
        n_classes : int
            Number of classes.
        sparse : bool, default=False
            Whether the rows are sparse.

        Returns
        -------
        int
            Bytes.
        """
        encodings = [self._wanted(encoding) for encoding in self._encodings(is_sparse=sparse)]
        self._check_values()
        grid, features = self._grid, Encoder(n_features)
        settings = candidates(grid, n_features)
        is_text = sparse and any(resolved_readout(AUTO, encoding, features) == BAYES for encoding in encodings)
        by_bayes = self.readout == BAYES or (is_text and self.readout == AUTO)
        if by_bayes:
            settings += candidates(grid, n_features, None, BAYES, is_text=is_text)
        m, s, rho = (int(max(sizes)) for sizes in zip(*(setting[1:4] for setting in settings), strict=True))
        n_decays = len({setting.params["decay"] for setting in settings})
        n_threads = effective_n_jobs(self.n_jobs)
        needed: int = (
            4 * n_samples * rho
            + (16 if by_bayes else 8) * m * n_classes
            + m * s * ((2 if n_features < 2**15 else 4) + (8 if sparse else 0))
            + 16 * n_samples * n_classes
            + 8 * n_samples * n_decays
            + 24 * 2**20 * n_threads
            + (192 * (n_samples + n_classes) if self.class_weight is not None else 0)
        )
        return needed

    def _validate_params(self) -> None:
        """Also check what scikit-learn's constraints cannot express."""
        self._check_values()
        super()._validate_params()
        check_class_weight(self.class_weight, type(self).__name__)
        for encoding in self._encodings():
            self._wanted(encoding)  # refuses words that are none

    def _check_values(self) -> None:
        """Check each value that is tried, as FlyBloomClassifier would."""
        owner = type(self).__name__
        for name in (*WAYS, *NAMES):
            values = getattr(self, name)
            if isinstance(values, str) and name in NAMES:
                continue  # a word for several values
            if not as_list(values):
                msg = f"The {name!r} parameter of {owner} must hold at least one value. Got {values!r} instead."
                raise ValueError(msg)
            for value in as_list(values):
                validate_parameter_constraints({name: CLASSIFIER_PARAMETERS[name]}, {name: value}, caller_name=owner)

    @property
    def _grid(self) -> dict[str, Any]:
        """What is tried of each size and of the decay."""
        return {name: getattr(self, name) for name in NAMES}

    def _splits(self, rows: Rows, groups: Any) -> list[Split]:
        """Return the splits; each must leave two classes to learn."""
        codes, weights, unit = rows.codes, rows.weights, rows.unit
        if isinstance(self.cv, str):
            splits = leave_one_out(codes, weights)
            largest = splits[0].class_count.max()
            if unit.per_row != 1 and largest > MAX_LENGTH:
                msg = (
                    f'cv="loo" with fractional weights takes classes of up to {MAX_LENGTH // unit.per_row} rows. '
                    f"Got {unit.rows(largest):.0f} instead. Use folds (cv=5)."
                )
                raise ValueError(msg)
            n_rows = np.bincount(codes[weights > 0])
            fewest = np.count_nonzero(n_rows) - (n_rows == 1).any()
        else:
            cv = check_cv(self.cv, rows.labels, classifier=True)
            splits = fold_splits(cv.split(rows.X, rows.labels, groups), codes, weights)
            fewest = min(np.count_nonzero(split.class_count) for split in splits)
        if fewest < 2:  # noqa: PLR2004
            msg = (
                "FlyBloomClassifierCV.fit needs rows of at least 2 classes outside of each test set. "
                f"Got {fewest} class(es) instead. Use fewer folds, stratified ones, or more rows of the rare class."
            )
            raise ValueError(msg)
        return splits

    def _require_memory(self, X: Features, n_classes: int) -> None:
        """Refuse what would not fit into memory, before anything is allocated."""
        n_samples, n_features = X.shape
        needed = self.estimate_memory(n_samples, n_features, n_classes, sparse=sparse.issparse(X))
        available = available_memory() if self.max_memory is None else self.max_memory
        if available is not None and needed > available:
            msg = (
                f"FlyBloomClassifierCV.fit needs about {needed / 2**30:.2f} GiB, more than the {available / 2**30:.2f} "
                "GiB available. Lower the largest n_winners or n_components, take fewer rows, or raise max_memory."
            )
            raise MemoryError(msg)

    def _search(self, rows: Rows, classes: Array, splits: list[Split], features: Encoder) -> None:
        """Score all settings, and set what was found."""
        seed, signs = resolve_seed(self.random_state), as_list(self.signed)
        ways, grids, named = [], [], []
        for encoding in self._encodings(is_sparse=sparse.issparse(rows.X)):
            wanted = self._wanted(encoding)
            encoders = rows.encoders(wanted, features, splits)
            if len(encoders) > 1 and isinstance(self.cv, str):
                msg = (
                    f"encoding={encoding!r} weighs columns by the labels of all rows, so that a row which is held out "
                    "by itself would be judged by weights that its own label has a part in. Use folds (cv=5), leave "
                    "out relevance, or fit the encoding to other rows beforehand: Encoding(...).fit(X, y)."
                )
                raise ValueError(msg)
            encoder, readout = encoders[0], resolved_readout(self.readout, wanted, encoders[0])
            is_text = resolved_readout(AUTO, wanted, encoder) == BAYES
            grid = candidates(self._grid, encoder.n_features, encoder.n_outputs, readout, is_text=is_text)
            for sign in signs:
                values = {"encoding": encoding, "signed": sign}
                ways.append(Way(encoders, bool(sign), readout))
                grids.append(grid)
                named.append({name: values[name] for name in self._named_ways})
        settings, class_weight = with_ways(grids, named, len(signs)), by_code(self.class_weight, classes)
        score = make_scorer(self.scoring, rows.X, rows.labels, classes, class_weight, rows.weights)
        search = Search(settings, ways, rows, splits, score, class_weight, seed, self.n_jobs)
        found = search.run(self._report, self.max_seconds)
        best = settings[found.best]
        class_count = rows_by_class(rows.codes, rows.weights)
        learned = Model(
            ways[best.way].hasher(seed, best), ClassCounts(classes, class_count, found.counts, best.rho, rows.unit)
        )
        parameters = {"signed": self.signed, "encoding": self.encoding, **best.params}
        model = FlyBloomClassifier(
            **parameters,
            class_weight=self.class_weight,
            readout=self.readout,
            temperature=fitted_temperature(found.novelty, rows.codes, rows.weights),
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        with_learned(model, learned)
        self._set_found(found, model)

    @property
    def _named_ways(self) -> list[str]:
        """Which of encoding and sign the settings name: those of which several may be tried."""
        tried = (name for name in WAYS if isinstance(getattr(self, name), list | tuple))
        return ["encoding", *tried] if self._tries_all else list(tried)

    def _set_found(self, found: Found, model: FlyBloomClassifier) -> None:
        """Set the attributes that users read."""
        results = cv_results(found.settings, found.scores, found.fit_times, found.score_times)
        self.__dict__.update(  # at once, so that an interrupt leaves the last search or this one
            n_splits_=found.scores.shape[1],
            n_tried_=int((~np.isnan(found.fit_times)).sum()),
            cv_results_=results,
            best_index_=found.best,
            best_params_=found.settings[found.best],
            best_score_=float(results["mean_test_score"][found.best]),
            oof_novelty_=found.novelty,
            temperature_=model.temperature,
            best_estimator_=model,
        )

    def _to_parts(self) -> Parts:
        """Return what files hold of the search: the best model, and all scores."""
        self._require_hasher()
        inside, arrays = describe_inside(self.best_estimator_)
        results, settings = self.cv_results_, self.cv_results_["params"]
        if "encoding" in self._named_ways:  # files hold encodings once, among the parameters
            if any(isinstance(one, Encoder) for one in as_list(self.encoding)):
                msg = (
                    "A search among encodings that were fitted beforehand cannot be saved. Save its best_estimator_, "
                    "or give the encodings by words."
                )
                raise TypeError(msg)
            encodings = self._encodings()
            settings = [{**setting, "encoding": encodings.index(setting["encoding"])} for setting in settings]
        facts = {"inside": inside, "settings": settings, "best": self.best_index_}
        scores = np.column_stack([results[f"split{i}_test_score"] for i in range(self.n_splits_)])
        values = (scores, results["mean_fit_time"], results["mean_score_time"], self.oof_novelty_)
        return Parts(None, facts, {**arrays, **dict(zip(SCORE_ARRAYS, values, strict=True))})

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG002
        """Hold what a file says, and return the search itself; ValueError where no search can have that."""
        others = {name: arrays[name] for name in arrays if name not in SCORE_ARRAYS}
        model = restore_inside(facts.get("inside"), others, FlyBloomClassifier)
        if model.readout == FILTER:  # also of files from before there was any other
            self.readout = FILTER
        settings, best = self._settings_of(facts.get("settings")), facts.get("best")
        scores, fit_times, score_times, novelty = (arrays.get(name, np.empty(0)) for name in SCORE_ARRAYS)
        if not (
            type(best) is int
            and 0 <= best < len(settings)
            and settings[best] == {name: getattr(model, name) for name in settings[best]}  # which were checked
            and scores.ndim == novelty.ndim == 2  # noqa: PLR2004
            and len(scores) == len(fit_times) == len(score_times) == len(settings)
            and novelty.shape[1] == model.classes_.size
        ):
            msg = "its scores are not one for each setting and split"
            raise ValueError(msg)
        self._set_found(Found(settings, scores, fit_times, score_times, best, novelty), model)
        return self

    def _settings_of(self, stored: Any) -> list[dict[str, Any]]:
        """Return the settings of a file, in which encodings have numbers; none where there can be none."""
        names, of_number = {*NAMES, *self._named_ways}, dict(enumerate(self._encodings()))
        if not (isinstance(stored, list) and all(isinstance(one, dict) and set(one) == names for one in stored)):
            return []
        if "encoding" not in names:
            return stored
        if not all(type(one["encoding"]) is int and one["encoding"] in of_number for one in stored):
            return []
        return [{**one, "encoding": of_number[one["encoding"]]} for one in stored]

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        if self._hasher is None:
            raise missing_attribute(self, "classes_")
        return self.best_estimator_.classes_

    @property
    def _hasher(self) -> Hasher | None:
        """How the best model hashes; None before fit."""
        best: FlyBloomClassifier | None = self.__dict__.get("best_estimator_")
        if best is None:
            return None
        with reading_learned(best) as learned:
            return learned.hasher

    def _report(self, n_done: int, n_settings: int) -> None:
        """Show how far the search is."""
        if self.verbose and is_watched():
            end = "\n" if n_done == n_settings else ""
            print(f"\r{n_done} of {n_settings} settings", end=end, file=sys.stderr, flush=True)  # noqa: T201
