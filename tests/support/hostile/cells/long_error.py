# points: fails with a message of 10 MB, and with one that fails itself.
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
