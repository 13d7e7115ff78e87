"""Pictures that explain: scenes drawn to scale from the catalogue's numbers.

    >>> from roofkit import pictures
    >>> pictures.ring().values(N=4)["share"]
    1.5

They are live figures: as the last expression of a cell a picture shows itself, in JupyterLab with
its controls and on a static page without a kernel.
"""

from roofkit.pictures.blocks_picture import matmul_blocks
from roofkit.pictures.one_roof_picture import one_roof
from roofkit.pictures.tiles_picture import tiles

__all__ = ["matmul_blocks", "one_roof", "tiles"]
