"""What all live figures share: controls, formulas, words; as HTML and as a widget."""
