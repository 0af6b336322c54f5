"""Models in formats that other programs run, without flybloom and without Python."""

from flybloom.export.onnx import register, to_onnx

__all__ = ["register", "to_onnx"]
