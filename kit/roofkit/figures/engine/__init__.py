"""Figure engine: formulas, scenes and controls, as HTML for pages and as a Jupyter widget.

`expressions.js` and `scene.js` are the JavaScript versions of the Python modules of the same name;
`live.js` makes the HTML of `page.py` interactive.
"""
