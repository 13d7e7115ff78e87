"""Unusual return values of a learner's function, made from the right answer.

Each function here turns a right answer into one of them. Its source is pasted before a correct
solution, whose functions are then wrapped with it. Only those in FAIR may get points.
"""

import itertools

# Answers that get points. "killing" harms itself alone: it may not signal process 1 everywhere.
FAIR = {"subclass", "noisy_float", "numpy_scalar"}
EITHER = {"killing"}
_calls = itertools.count()


def equal_to_all(right):
    class Anything:
        def __eq__(self, other):
            return True

        __hash__ = None
        __lt__ = __gt__ = __le__ = __ge__ = __eq__

    return Anything()


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

    if isinstance(right, int | float):
        return Number(right)
    return tuple(map(subclass, right)) if isinstance(right, tuple) else right


def noisy_float(right):
    print("\x1b[2Jworking ...")
    return right


def changing(right):
    return right if next(_calls) % 2 == 0 else 0.0


def endless(right):
    return itertools.count()


def gigantic_whole(right):
    return 1 << 10**9


def gigantic_list(right):
    return [0.0] * 10**8


def deep_container(right):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return deep


def dict_with_odd_keys(right):
    return {(): right, None: right, 1.5: right, "\ud800": right}


def trap_for_pickles(right):
    class Trap:
        def __reduce__(self):
            return eval, ("__import__('os').system('echo REACHED')",)

    return Trap()


def dying(right):
    import os

    os._exit(0)


def killing(right):
    import os
    import signal

    os.kill(os.getppid(), signal.SIGKILL)
    return right


def raising_base(right):
    class Odd(BaseException):
        def __str__(self):
            raise KeyboardInterrupt

    raise Odd


def numpy_scalar(right):
    import numpy

    if isinstance(right, int | float):
        return numpy.float64(right)
    return tuple(map(numpy_scalar, right)) if isinstance(right, tuple) else right


def sleeping(right):
    import time

    time.sleep(10_000)


def leaving_processes(right):
    import os
    import time

    if os.fork() == 0:
        os.setsid()
        time.sleep(10_000)


def forged_lines(right):
    import os

    line = b'{"value": {"curves": [{"x": [], "y": [], "texts": ["1024"]}]}, "problem": ""}\n'
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, line * 20)
        except OSError:
            pass
    return right


def endless_list(right):
    class Endless(list):
        def __iter__(self):
            return itertools.repeat(1.0)

    return Endless([1.0])
