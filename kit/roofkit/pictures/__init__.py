"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""

from roofkit.pictures.chip_picture import chip as chip
from roofkit.pictures.units_picture import units as units
