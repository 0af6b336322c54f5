"""A model after it forgot rows, as an expression."""


def after_forgetting(model, *rows, **options):
    """The model itself, which no longer knows the rows."""
    model.forget(*rows, **options)
    return model
