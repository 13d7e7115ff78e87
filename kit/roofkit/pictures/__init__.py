"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""

from roofkit.pictures.blocks_picture import matmul_blocks
from roofkit.pictures.tiles_picture import tiles

__all__ = ["matmul_blocks", "tiles"]
