# Keeps points: raises an error with a 1 MB message, and one whose __str__ raises a 10 MB error.
from IPython import get_ipython


class Odd(Exception):
    def __str__(self):
        raise ValueError("x" * 10_000_000)

    __repr__ = __str__


try:
    raise Odd
except Odd:
    get_ipython().showtraceback()
raise ValueError("x" * 1_000_000)
