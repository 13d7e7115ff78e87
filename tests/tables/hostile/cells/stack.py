# May lose points: recurses until the stack overflows.
import sys

sys.setrecursionlimit(10**9)


def deeper():
    return deeper()


deeper()
