"""Figure engine: formulas, scenes and controls, as HTML for pages and as a Jupyter widget.

`expressions.js` and `scene.js` are the JavaScript twins of the modules beside them; `live.js` makes
the HTML of `page.py` interactive.
"""
