"""Data of any source, block by block, in bounded memory: see `read_blocks`."""

from flybloom.blocks.source import Block, Blocks, read_blocks

__all__ = ["Block", "Blocks", "read_blocks"]
