"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""

from roofkit.pictures.one_roof_picture import one_roof

__all__ = ["one_roof"]
