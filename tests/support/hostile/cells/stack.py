# either: nests calls until there is no more room.
import sys

sys.setrecursionlimit(10**9)


def deeper():
    return deeper()


deeper()
