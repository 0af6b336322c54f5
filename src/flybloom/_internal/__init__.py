"""Internal helpers: types, validation, threads, files, pages, scores, and scikit-learn's private names."""
