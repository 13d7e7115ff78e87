from roofkit.pictures.blocks_picture import matmul_blocks
from roofkit.pictures.browser_roof_picture import browser_roof
from roofkit.pictures.chip_picture import chip
from roofkit.pictures.one_roof_picture import one_roof
from roofkit.pictures.ring_picture import ring
from roofkit.pictures.shards_picture import shards
from roofkit.pictures.tiles_picture import tiles
from roofkit.pictures.timeline_picture import timeline
from roofkit.pictures.units_picture import units

__all__ = [
    "browser_roof",
    "chip",
    "matmul_blocks",
    "one_roof",
    "ring",
    "shards",
    "tiles",
    "timeline",
    "units",
]
