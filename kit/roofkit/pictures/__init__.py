from roofkit.pictures.blocks_picture import matmul_blocks
from roofkit.pictures.chip_picture import chip
from roofkit.pictures.one_roof_picture import one_roof
from roofkit.pictures.tiles_picture import tiles
from roofkit.pictures.timeline_picture import timeline
from roofkit.pictures.units_picture import units

__all__ = ["chip", "matmul_blocks", "one_roof", "tiles", "timeline", "units"]
