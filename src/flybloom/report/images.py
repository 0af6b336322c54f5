"""Arrays as PNG images in data URLs, without an imaging library."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

GREY, RGBA = 0, 6  # colour types of PNG


def grey_image(values: Any) -> str:
    """Return an array as a greyscale image, from minimum (black) to maximum (white)."""
    array = np.asarray(values, np.float64)
    low, high = array.min(), array.max()
    return _data_address((255 * (array - low) / ((high - low) or 1.0)).round().astype(np.uint8), GREY)


def heat_image(values: Any, colour: tuple[int, int, int]) -> str:
    """Return an array of values from 0 to 1 as an image of one colour with varying opacity."""
    opacity = (255 * np.clip(np.asarray(values, np.float64), 0, 1)).round().astype(np.uint8)
    pixels = np.empty((*opacity.shape, 4), np.uint8)
    pixels[..., :3], pixels[..., 3] = colour, opacity
    return _data_address(pixels, RGBA)


def _data_address(pixels: np.ndarray[Any, Any], colour_type: int) -> str:
    """Return 8-bit pixels as a PNG data URL."""
    height, width = pixels.shape[:2]
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # each line starts with its filter, 0: none
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")
