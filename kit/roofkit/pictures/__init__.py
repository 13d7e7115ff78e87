"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""
