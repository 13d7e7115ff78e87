"""The error that ends a command with one line for the instructor."""


class Unable(Exception):
    """A command cannot continue; the message is one line that says why."""
