"""nbgrader reads this where it is started: `nbgrader validate` says what the checks compared."""

from roofkit import validate

validate.install()
