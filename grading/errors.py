"""The error that ends a command with one line for the instructor."""


class Unable(Exception):
    """A command cannot go on; the text is one line that says why."""
