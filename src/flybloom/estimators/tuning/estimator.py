"""FlyBloomClassifierCV: exact cross-validation of a grid of settings."""

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
from flybloom.core.encoding.cuts import Cuts
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.files.model_file import Parts, describe_inside, restore_inside
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.readout.class_weight import ClassWeight, by_code, check_class_weight, require_weights_for
from flybloom.core.readout.filters import BAYES, FILTER, MAX_LENGTH
from flybloom.core.readout.linear import LANES
from flybloom.core.readout.temperature import fitted_temperature
from flybloom.estimators.access import reading_learned, with_learned
from flybloom.estimators.base import HASH_PARAMETERS, FlyEstimator, missing_attribute
from flybloom.estimators.classifier import CLASSIFIER_PARAMETERS, FlyBloomClassifier, resolved_readout
from flybloom.estimators.learned_page import ShowsInside
from flybloom.estimators.scores import FilterScores, Reading
from flybloom.estimators.tuning.grids import ALL_ENCODINGS, NAMES, as_list, candidates, with_ways
from flybloom.estimators.tuning.held_out import Split, fold_splits, leave_one_out
from flybloom.estimators.tuning.results import HeldOutAnswers, cv_results, make_scorer
from flybloom.estimators.tuning.search import Found, Rows, Search, Way

WORDS = frozenset({"auto", "paper"})
WAYS = ("encoding", "signed")  # of which each value hashes all rows anew
SCORE_ARRAYS = ("cv_scores", "cv_fit_times", "cv_score_times", "oof_novelty")  # of files


class FlyBloomClassifierCV(ShowsInside, FilterScores, ClassifierMixin, FlyEstimator):  # type: ignore[misc]
    """FlyBloomClassifier with built-in exact cross-validation of its settings.

    Counts add up, so the model without a fold is the model of all rows minus the counts of the fold, and all decays
    share the same counts. So rows are hashed and counted once for each encoding and sizes, whatever the number of folds
    and decays, and every score equals, bit for bit, that of a model fitted to the training rows.

    Connections and label-free steps of the encoding are shared by the folds. If the encoding uses labels, it is fitted
    in each fold and all rows are hashed again; leave-one-out is refused then.

    Parameters
    ----------
    n_components : int, float, list of these, "auto" or "paper", default="auto"
        Numbers of components to try, each as in `FlyBloomClassifier`.

        - If "auto", 2048, 8192 and 32768; for text 32768 and 131072, see `readout`.
        - If "paper", from 2 to 2048 times the number of features, in steps of 4: a long search for many features.

    n_connections : int, float, list of these, "auto" or "paper", default="auto"
        Numbers of connections to try.

        - If "auto", 0.25, 0.5, 1 and 2 times the default of `FlyBloomClassifier`; for text 1, 2, 3 and 6.
        - If "paper", 0.1, 0.3 and 0.5 of the features.

    n_winners : int, float, list of these, "auto" or "paper", default="auto"
        Numbers of winners to try. "auto" and "paper" omit more than half of the components.

        - If "auto", 32, 64, 128 and 256; for text 96, 192, 384 and 768.
        - If "paper", 8, 16, 32, 64, 128 and 256.

    decay : float, list of floats, "auto" or "paper", default="auto"
        Decays to try.

        - If "auto", 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7 and 1; only "auto" with ``readout="bayes"``.
        - If "paper", 0.2, 0.4, 0.6, 0.9 and 1.

    cv : "loo", int, cross-validation generator or iterable, default="loo"
        Cross-validation strategy.

        - If "loo", leave-one-out. All rows are scored together as one split. The result does not depend on the order of
          rows.
        - Otherwise as in GridSearchCV: an int is a number of stratified folds.

    scoring : str, callable or None, default=None
        A scorer's name or a function of (estimator, X, y). None is accuracy. A function receives an estimator with
        `predict`, `predict_proba`, `decision_function` and `novelty` for the test rows, at the default temperature.

    readout : {"auto", "filter", "bayes"}, default="auto"
        The read-out, as in `FlyBloomClassifier`: "bayes" for text (sparse rows with more than 1024 features and
        ``encoding="auto"``), otherwise "filter".

    class_weight : "balanced", dict or None, default=None
        Weights of the classes in prediction, as in `FlyBloomClassifier`. "balanced" uses the training rows of each
        split.

    signed : bool or list of bool, default=True
        Whether connections have random signs, or a list of both.

    encoding : str, Encoding, Encoder or list of these, default="auto"
        How columns are transformed before hashing; see `Encoding` and docs/encodings.md. All values of a list are
        tried.

        - If "all", "auto", "standard", "bins", "rotation" and "none"; for sparse rows "auto" and "none".

        - If "auto", columns are standardised, clipped at 2.5 standard deviations and, except with ``cv="loo"``,
          weighted by relevance to the labels. Up to 30 columns also become 5 soft bins each. Images are detected and
          become 50 principal components. Sparse rows are only weighted.
        - If "none", no transformation, as in the paper: integers are summed as integers.
        - Otherwise steps such as "standard", "bins", "relevance" and "rotation", joined by "+".
        - If an `Encoding`, its steps. If a fitted encoder, that encoder.

        Missing values (NaN) that are not imputed add nothing to a sum. Here "auto" selects no columns and makes no k-NN
        check, because both would use the labels of held-out rows.

    max_seconds : float or None, default=None
        Time budget: no further hash is started after this number of seconds. Settings with few components are tried
        first, then the best of them with more; the order does not depend on the time. ``n_tried_`` is the number of
        settings tried. None for no limit.

    max_memory : int or None, default=None
        Maximum memory of `fit` in bytes; None for the available memory. A fit that needs more is refused before it
        starts.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections and of the choice between tied classes. None draws a seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    verbose : bool, default=False
        Whether to show progress.

    Attributes
    ----------
    best_params_ : dict
        The best settings.

    best_score_ : float
        Mean score of the best settings.

    best_index_ : int
        Index of the best settings in ``cv_results_``.

    best_estimator_ : FlyBloomClassifier
        The model of all rows with the best settings and ``temperature_``.

    cv_results_ : dict of arrays
        Results with the keys of GridSearchCV. Times of shared work are divided among the settings.

    n_splits_ : int
        Number of splits; 1 for "loo".

    n_tried_ : int
        Number of settings tried. Others have NaN in ``cv_results_``.

    temperature_ : float
        The temperature that minimises the log-loss of the held-out rows.

    oof_novelty_ : ndarray of shape (n_samples, n_classes)
        Out-of-fold novelty of each row with the best settings: the mean if several splits test a row, NaN if none does,
        and infinite for classes missing in training. With naive Bayes, the negative scores in units of the temperature.

    oof_decision_
    oof_predict_proba_
    classes_

    n_components_, n_connections_, n_winners_ : int
        Sizes of the best model.

    seed_
    n_features_in_
    feature_names_in_

    See Also
    --------
    FlyBloomClassifier : The classifier with given settings.

    Notes
    -----
    Let ``Z[j, i]`` count how often component j won among the rows of class i. If the rows T are held out, the counts of
    the others are ``Z - Z_T``, which is exact for integers. For leave-one-out of a row x of class y they are ``Z[j, y]
    - 1`` for each winner j of x, and Z elsewhere. See docs/cross-validation.md.

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
        """Declare the tags of FlyBloomClassifier."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not all(as_list(self.signed))
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Score all settings, and keep the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows, for a `cv` that needs them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in training, as in `FlyBloomClassifier`, and in scoring, if the scorer accepts weights.
            Leave-one-out removes a row with all its weight.

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
        """Update the best model with a block of rows; the first block is passed to `fit`.

        The results of the search do not change.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels. New ones may appear in any block but the first.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect; optional.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; see `fit` for the first block.

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
        """Whether "auto" uses relevance: not with leave-one-out."""
        return not isinstance(self.cv, str)

    @property
    def _tries_all(self) -> bool:
        """Whether all suitable encodings are tried."""
        return isinstance(self.encoding, str) and self.encoding == "all"

    def _encodings(self, *, is_sparse: bool = False) -> list[Any]:
        """Return the encodings to try for dense or sparse rows."""
        if not self._tries_all:
            return as_list(self.encoding)
        return [one for one in ALL_ENCODINGS if not is_sparse or self._wanted(one).takes_sparse]

    def _wanted(self, encoding: Any) -> Wanted:
        """Parse one encoding."""
        wanted = wanted_encoding(encoding, uses_labels=self._uses_labels, selects=False)
        has_ferns = wanted.step(Cuts) is not None if isinstance(wanted, Encoder) else getattr(wanted, "ferns", False)
        if has_ferns:
            msg = (
                "Numbers of winners are tried on those of one hash, which ferns are not. Expected an encoding without."
            )
            raise ValueError(msg)
        return wanted

    @property
    def _encoding(self) -> Wanted:
        """The first encoding, parsed."""
        return self._wanted(self._encodings()[0])

    def _scoring(self, X: Any) -> AbstractContextManager[tuple[Features, Any]]:
        """Yield validated rows with the state of the best model."""
        self._require_hasher()
        scoring: AbstractContextManager[tuple[Features, Any]] = self.best_estimator_._scoring(X)  # noqa: SLF001
        return scoring

    def _reading(self, rows: Features, learned: Any, *, by_filters: bool = False) -> Reading:
        """Yield validated rows with the read-out of the best model."""
        return self.best_estimator_._reading(rows, learned, by_filters=by_filters)  # noqa: SLF001

    @property
    def oof_decision_(self) -> Array:
        """Out-of-fold decision function, from ``oof_novelty_``."""
        return self._held_out_answers.decision_function(None)

    @property
    def oof_predict_proba_(self) -> Array:
        """Calibrated out-of-fold probabilities, from ``oof_novelty_``."""
        return self._held_out_answers.predict_proba(None)

    @property
    def _held_out_answers(self) -> HeldOutAnswers:
        """Out-of-fold predictions of the best settings."""
        return HeldOutAnswers(self.classes_, lambda: self.oof_novelty_, temperature=self.temperature_)

    def estimate_memory(self, n_samples: int, n_features: int, n_classes: int, sparse: bool = False) -> int:
        """Return about how many bytes `fit` needs beside the rows themselves, at most.

        For n rows, L classes (rounded up to a multiple of 16) and the largest m, s and rho that are tried, these are::

            4 n rho          the winners
            5 * 4 m L        the counts, those of a fold, those without it, the weights that are read from them, and the
                             counts of the best setting so far; 4 m L more where they are read by Bayes
            2 m s            the connections (4 bytes each from 2**15 features on; 8 more for sparse rows)
            2 * 8 n L        the held-out novelties, and those of the best setting so far
            8 n              the predictions
            24 * 2**20       for each thread, the block of rows that it works on
            64 (n + L)       with class weights, their tables

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
        encodings = self._encodings(is_sparse=sparse)
        self._check_values()
        grid, features = self._grid, Encoder(n_features)
        settings = candidates(grid, n_features)
        is_text = sparse and any(resolved_readout(AUTO, encoding, features) == BAYES for encoding in encodings)
        by_bayes = self.readout == BAYES or (is_text and self.readout == AUTO)
        if by_bayes:
            settings += candidates(grid, n_features, None, BAYES, is_text=is_text)
        m, s, rho = (int(max(sizes)) for sizes in zip(*(setting[1:4] for setting in settings), strict=True))
        n_threads, width = effective_n_jobs(self.n_jobs), -(-n_classes // LANES) * LANES
        needed: int = (
            4 * n_samples * rho
            + (24 if by_bayes else 20) * m * width
            + m * s * ((2 if n_features < 2**15 else 4) + (8 if sparse else 0))
            + 16 * n_samples * width
            + 8 * n_samples
            + 24 * 2**20 * n_threads
            + (64 * (n_samples + n_classes) if self.class_weight is not None else 0)
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
        """Validate each candidate value as FlyBloomClassifier does."""
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
        """Candidate sizes and decays."""
        return {name: getattr(self, name) for name in NAMES}

    def _splits(self, rows: Rows, groups: Any) -> list[Split]:
        """Return the splits; each training set needs two classes."""
        codes, weights, unit = rows.codes, rows.weights, rows.unit
        if isinstance(self.cv, str):
            splits = leave_one_out(weights)
            largest = np.bincount(codes, weights).max()
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
            splits = fold_splits(cv.split(rows.X, rows.labels, groups), weights)
            fewest = min(np.unique(codes[split.weights > 0]).size for split in splits)
        if fewest < 2:  # noqa: PLR2004
            msg = (
                "FlyBloomClassifierCV.fit needs rows of at least 2 classes outside of each test set. "
                f"Got {fewest} class(es) instead. Use fewer folds, stratified ones, or more rows of the rare class."
            )
            raise ValueError(msg)
        return splits

    def _require_memory(self, X: Features, n_classes: int) -> None:
        """Raise an error if memory is insufficient, before anything is allocated."""
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
        """Score all settings, and set the results."""
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
            encoder, readout = encoders[0], resolved_readout(self.readout, encoding, encoders[0])
            is_text = resolved_readout(AUTO, encoding, encoder) == BAYES
            grid = candidates(self._grid, encoder.n_features, encoder.n_outputs, readout, is_text=is_text)
            for sign in signs:
                values = {"encoding": encoding, "signed": sign}
                ways.append(Way(encoders, bool(sign), readout))
                grids.append(grid)
                named.append({name: values[name] for name in self._named_ways})
        settings, class_weight = with_ways(grids, named, len(signs)), by_code(self.class_weight, classes)
        score = make_scorer(self.scoring, rows.X, rows.labels, classes, rows.weights)
        search = Search(settings, ways, rows, splits, score, class_weight, seed, self.n_jobs)
        found = search.run(self._report, self.max_seconds)
        best = settings[found.best]
        counts: Any = found.counts
        learned = Model(
            ways[best.way].hasher(seed, best),
            ClassCounts(classes, counts.class_count, counts.table, best.rho, rows.unit),
        )
        parameters = {"signed": self.signed, "encoding": self.encoding, **best.params}
        model = FlyBloomClassifier(
            **parameters,
            class_weight=self.class_weight,
            readout=self.readout,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        model.temperature = fitted_temperature(found.novelty, rows.codes, rows.weights)
        with_learned(model, learned)
        self._set_found(found, model)

    @property
    def _named_ways(self) -> list[str]:
        """Which of encoding and sign are part of the settings."""
        tried = (name for name in WAYS if isinstance(getattr(self, name), list | tuple))
        return ["encoding", *tried] if self._tries_all else list(tried)

    def _set_found(self, found: Found, model: FlyBloomClassifier) -> None:
        """Set the public attributes."""
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
        """Return the state that files store: the best model and all scores."""
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
        """Restore the state from a file, and return the search; ValueError if it is invalid."""
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
        """The hasher of the best model; None before fit."""
        best: FlyBloomClassifier | None = self.__dict__.get("best_estimator_")
        if best is None:
            return None
        with reading_learned(best) as learned:
            return learned.hasher

    def _report(self, n_done: int, n_settings: int) -> None:
        """Show progress."""
        if self.verbose and is_watched():
            end = "\n" if n_done == n_settings else ""
            print(f"\r{n_done} of {n_settings} settings", end=end, file=sys.stderr, flush=True)  # noqa: T201
