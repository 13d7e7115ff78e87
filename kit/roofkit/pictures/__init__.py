"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""

from roofkit.pictures.timeline_picture import timeline as timeline
