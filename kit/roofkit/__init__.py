"""What a learner's notebook and a page of the book use beside `rooflib`.

`roofkit.check` compares a learner's functions with published cases, `roofkit.live` holds the
figures that move, `roofkit.pictures` the pictures that explain, and `roofkit.validate` the messages
of nbgrader's Validate.
"""

__version__ = "0.3.0"
