"""Figure engine: formulas, scenes and controls, as HTML and as a widget.

`expressions.js` and `scene.js` are the JavaScript versions of the Python modules of the same name;
`live.js` makes the HTML of `page.py` interactive.
"""
