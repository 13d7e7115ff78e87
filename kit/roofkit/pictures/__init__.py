"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""

from roofkit.pictures.blocks_picture import matmul_blocks

__all__ = ["matmul_blocks"]
