"""Models for those who only predict: as ONNX, which other programs run, and read with numpy alone (`predictor`)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flybloom.export.onnx import register, to_onnx

__all__ = ["register", "to_onnx"]


def __getattr__(name: str) -> Any:
    """Import what needs onnx when it is first asked for: the predictor does without."""
    if name not in __all__:
        msg = f"module 'flybloom.export' has no attribute {name!r}"
        raise AttributeError(msg)
    from flybloom.export import onnx  # noqa: PLC0415

    return getattr(onnx, name)
