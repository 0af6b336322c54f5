"""Reading of data sources block by block: see `read_blocks`."""

from flybloom.blocks.source import Block, Blocks, read_blocks

__all__ = ["Block", "Blocks", "read_blocks"]
