"""What a learner's function may return in the place of an answer, made from the right answer.

Each function here is one such return value; its text is pasted before a right solution, and the
solution's functions are wrapped with it. None of them may get points, but those in FAIR.
"""

import itertools

FAIR = {"subclass", "noisy_float"}
_calls = itertools.count()


def equal_to_all(right):
    class Anything:
        def __eq__(self, other):
            return True

        __hash__ = None
        __lt__ = __gt__ = __le__ = __ge__ = __eq__

    return Anything()


def float_on_demand(right):
    class Lazy:
        def __float__(self):
            raise SystemExit("asked for a number")

        def __array__(self, *_, **__):
            raise SystemExit("asked for an array")

    return Lazy()


def never_float(right):
    class Slow:
        def __float__(self):
            while True:
                pass

        __int__ = __index__ = __float__

    return Slow()


def lying_class(right):
    class Liar:
        __class__ = float

    return Liar()


def subclass(right):
    class Number(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    return Number(right) if isinstance(right, int | float) else right


def wrong_subclass(right):
    class Number(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

        def __float__(self):
            return 1.0

    return Number(-1.0)


def noisy_float(right):
    print("\x1b[2Jworking ...")
    return right


def changing(right):
    return right if next(_calls) % 2 == 0 else 0.0


def generator(right):
    return (right for _ in range(1))


def endless(right):
    return itertools.count()


def gigantic_whole(right):
    return 10 ** (10**7)


def gigantic_text(right):
    return "9" * 500_000_000


def gigantic_list(right):
    return [0.0] * 10**8


def not_a_number(right):
    return float("nan")


def infinite(right):
    return float("inf")


def minus_infinite(right):
    return float("-inf")


def own_container(right):
    loop = []
    loop.append(loop)
    return loop


def deep_container(right):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return deep


def dict_with_odd_keys(right):
    return {(): right, None: right, 1.5: right, "\ud800": right}


def lone_surrogate(right):
    return "\ud800"


def trap_for_pickles(right):
    class Trap:
        def __reduce__(self):
            return eval, ("__import__('os').system('echo REACHED')",)

    return Trap()


def json_text(right):
    return '{"value": 1, "problem": ""}'


def array_of_objects(right):
    import numpy

    return numpy.array([equal_to_all(right), None], dtype=object)


def dying(right):
    import os

    os._exit(0)


def killing(right):
    import os
    import signal

    os.kill(os.getppid(), signal.SIGKILL)
    return right


def raising_exit(right):
    raise SystemExit(0)


def raising_base(right):
    class Odd(BaseException):
        def __str__(self):
            raise KeyboardInterrupt

    raise Odd


def deep_recursion(right):
    return deep_recursion(right)
