"""`make fuzz`: what a submission controls, drawn at random, against all that reads it.

    python tests/fuzz [draws of each target] [seed] [the targets, if not all]

Each draw may compute for 2 s and take 500 MB more, in a process of its own with many others. What
takes more, or raises an error, is a finding. A draw is made again from what the finding says: the
target, the seed and its number.
"""

import collections
import mmap
import os
import pickle
import resource
import signal
import sys
import time
import traceback
import warnings
from random import Random

from targets import TARGETS

from grading.limits import _data_bytes

DRAWS, SEED = 15_000, 15
SECONDS, BYTES = 2.0, 500_000_000
BATCH = 1_000  # draws of one process
SHOWN = 5  # findings of a target


def child(target, seed, first, last, at, outlet):
    """Draw, and report outcomes, the slowest draw and what was wrong, unless the system ends it."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    outcomes, slowest = collections.Counter(), (0.0, first)
    error = ""
    held = _data_bytes() or 0
    most = _most()
    resource.setrlimit(resource.RLIMIT_DATA, (held + BYTES, resource.RLIM_INFINITY))
    for number in range(first, last):
        at.seek(0)
        at.write(number.to_bytes(8, "little"))
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            outcomes[target(Random(f"{seed}/{target.__name__}/{number}"))] += 1
        except BaseException:
            error = traceback.format_exc(limit=-3)
        signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, (time.process_time() - start, number))
        if error:
            break
    with os.fdopen(outlet, "wb") as stream:
        pickle.dump((outcomes, slowest, _most() - most, error), stream)


def _most():
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def batch(target, seed, first, last):
    """(number of the last draw, outcomes, slowest, most memory of all, what was wrong with it)"""
    at = mmap.mmap(-1, 8)
    inlet, outlet = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(inlet)
            child(target, seed, first, last, at, outlet)
        finally:
            os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(process, 0)
    number = int.from_bytes(at[:8], "little")
    if not said:
        by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        why = f"more than {SECONDS:g} s" if by == signal.SIGPROF else f"its process ended ({by})"
        return number, collections.Counter(), (SECONDS, number), 0.0, why
    return number, *pickle.loads(said)


def series(name, draws, seed):
    """Print a line about this target; the number of findings."""
    outcomes, slowest, memory, findings, first = collections.Counter(), (0.0, 0), 0.0, [], 0
    while first < draws:
        number, some, slow, most, wrong = batch(
            TARGETS[name], seed, first, min(first + BATCH, draws)
        )
        outcomes += some
        slowest, memory = max(slowest, slow), max(memory, most)
        if wrong:
            findings.append((number, wrong))
        first = number + 1
    common = ", ".join(f"{what} {count}" for what, count in outcomes.most_common(9))
    print(
        f"{name}: {draws} draws, slowest {slowest[0]:.2f} s (number {slowest[1]}), "
        f"at most {memory:.0f} MB more; {common}"
    )
    for number, wrong in findings[:SHOWN]:
        print(f"  FOUND at {number}: {wrong.strip()}")
    if len(findings) > SHOWN:
        print(f"  and {len(findings) - SHOWN} more")
    sys.stdout.flush()
    return len(findings)


def main(draws=DRAWS, seed=SEED, *names):
    names = names or tuple(TARGETS)
    print(f"seed {seed}, {draws} draws for each of {len(names)} targets", flush=True)
    found = sum(series(name, int(draws), seed) for name in names)
    print(f"{int(draws) * len(names)} draws, {found} findings")
    raise SystemExit(found > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
