"""Break the code in many places, drawn with a seed, and see whether the tests notice.

    make mutants
    make mutants MUTANTS_ARGS="--seed 2 --count 200 --only rooflib --jobs 1"

Each fault is put into a copy of the repository, where the cheapest tests that should notice run
until one fails. Faults that somebody chose are in named.toml, survivors that were looked at in
reviewed.toml. The exit status is 1 if a survivor is in no list, or if more than 5% survive.

Why not mutmut or cosmic-ray: mutmut 3 puts its faults into functions alone (much of what is tried
here are tables), chooses one by a variable of the environment, which a sandbox clears, and wraps
functions whose signatures are asked for here; cosmic-ray has one test command for all files and
changes the files where they are. Neither draws with a seed, knows the catalogue, or takes faults
by name.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from queue import SimpleQueue

import choose
from choose import ROOMS, ROOT, Reviewed
from mutate import Mutant
from trial import Copy, Cost

COUNT = sum(share for _, share in ROOMS.values())
MOST = 0.05
# For each way in which code gets into a process of the tests: imported, forked, in a sandbox.
PROOF = (
    "rooflib/units.py",
    "kit/roofkit/check/compare.py",
    "grading/release/exercises.py",
    "grading/sandbox/inside/refusals.py",
)


class Stop(SystemExit):
    """There is nothing to be learnt from this run; the text is one line that says why."""


@dataclass(frozen=True)
class Outcome:
    """What became of a fault. `by`: the test that noticed, "" if none did."""

    room: str
    file: str
    line: int
    how: str
    before: str
    after: str
    named: bool
    by: str
    seconds: float
    reviewed: str = ""

    def __str__(self) -> str:
        head = f"{self.file}:{self.line}  {self.how}"
        if self.by:
            return f"killed    {head}  by {self.by}  ({self.seconds:.0f} s)"
        lines = [f"SURVIVED  {head}  ({self.seconds:.0f} s)"]
        lines += [f"        - {self.before}", f"        + {self.after}"]
        return "\n".join([*lines, *([f"        reviewed: {self.reviewed}"] * bool(self.reviewed))])


class Bench:
    """Some copies of the repository, and what each stage of the tests takes without a fault."""

    def __init__(self, copies: Sequence[Copy], known: Sequence[Reviewed]) -> None:
        self.free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self.free.put(copy)
        self.known = {(one.file, one.before, one.after): one.why for one in known}
        self.usual: dict[tuple[str, ...], Cost] = {}

    @contextlib.contextmanager
    def copy(self) -> Iterator[Copy]:
        one = self.free.get()
        try:
            yield one
        finally:
            self.free.put(one)

    def sound(self, stage: tuple[str, ...]) -> str:
        """Run a stage without a fault, for what it takes."""
        with self.copy() as copy:
            result = copy.test(stage)
        if not result.passed:
            raise Stop(f"without any fault, {' '.join(stage)} fails already: {result.by}")
        self.usual[stage] = result.cost
        return f"{' '.join(stage)}: {result.cost.wall:.0f} s, {result.cost.cpu:.0f} s of computing"

    def prove(self, copy: Copy, paths: Sequence[str]) -> None:
        """A file that is no Python must be noticed: else another tree than this one is tested."""
        for path in paths:
            with copy.broken(Mutant(path, 0, 0, "(\n", "proof")):
                if copy.test(choose.stages(path)[0]).passed:
                    raise Stop(f"the tests do not run the copy's {path}, but another one")

    def tried(self, mutant: Mutant, named: bool) -> Outcome:
        source = choose.read(mutant.path)
        before, after = mutant.shown(source)
        start, by = time.monotonic(), ""
        with self.copy() as copy, copy.broken(mutant):
            for stage in choose.stages(mutant.path):
                result = copy.test(stage, self.usual[stage])
                if not result.passed:
                    by = result.by
                    break
        return Outcome(
            room=choose.room_of(mutant.path),
            file=mutant.path,
            line=mutant.line(source),
            how=mutant.how,
            before=before,
            after=after,
            named=named,
            by=by,
            seconds=round(time.monotonic() - start, 1),
            reviewed="" if by else self.known.get((mutant.path, before, after), ""),
        )


def chosen(options: argparse.Namespace, known: Sequence[Reviewed]) -> list[tuple[Mutant, bool]]:
    """The faults to try, each with whether somebody chose it."""
    found = []
    try:
        for one in [] if options.drawn else choose.named():
            found.append((one.mutant(choose.read(one.file)), True))
    except (OSError, ValueError) as error:
        raise Stop(str(error)) from None
    for room, (_, share) in ROOMS.items():
        count = 0 if options.named else round(options.count * share / COUNT)
        found += [(one, False) for one in choose.drawn(room, count, options.seed, known)]
    only = tuple(options.only or ("",))
    return [
        (one, by_name)
        for one, by_name in found
        if one.path.startswith(only) or choose.room_of(one.path) in only
    ]


def run(todo: Sequence[tuple[Mutant, bool]], known: Sequence[Reviewed], jobs: int) -> list[Outcome]:
    stages = dict.fromkeys(stage for one, _ in todo for stage in choose.stages(one.path))
    proofs = [path for path in PROOF if choose.stages(path)[0] in stages]
    with contextlib.ExitStack() as stack:
        copies = []
        for _ in range(jobs):
            copies.append(Copy(ROOT))
            stack.callback(copies[-1].remove)
        bench = Bench(copies, known)
        hands = stack.enter_context(ThreadPoolExecutor(jobs))
        stack.callback(_end, hands, copies)
        for line in hands.map(bench.sound, stages):
            print(f"sound     {line}", flush=True)
        for proof in [hands.submit(bench.prove, copy, proofs) for copy in copies]:
            proof.result()
        done = []
        for future in as_completed([hands.submit(bench.tried, *one) for one in todo]):
            done.append(future.result())
            print(done[-1], flush=True)
    return done


def _end(hands: ThreadPoolExecutor, copies: Sequence[Copy]) -> None:
    """If the run was interrupted, nothing goes on."""
    hands.shutdown(wait=False, cancel_futures=True)
    for copy in copies:
        copy.stop()


def _terminated(*_: object) -> None:
    """Leave by way of the cleaning up, which a second signal must not end halfway."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def summary(done: Sequence[Outcome], known: Sequence[Reviewed]) -> tuple[str, bool]:
    """Figures by room, and whether that is good enough."""
    lines = [f"{'room':<10} {'tried':>6} {'killed':>7} {'survived':>9}"]
    for room in (*ROOMS, "all"):
        mine = [one for one in done if room in (one.room, "all")]
        killed = sum(bool(one.by) for one in mine)
        lines.append(f"{room:<10} {len(mine):>6} {killed:>7} {len(mine) - killed:>9}")
    alive = [one for one in done if not one.by]
    unknown = [one for one in alive if not one.reviewed]
    share = len(alive) / max(len(done), 1)
    equivalent = sum(one.equivalent for one in known)
    lines.append(
        f"{share:.1%} survive (at most {MOST:.0%} may); {len(unknown)} of them not reviewed; "
        f"{equivalent} known that change nothing were not tried"
    )
    return "\n".join(lines), share <= MOST and not unknown


def main() -> None:
    one = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    one.add_argument("--seed", type=int, default=1, help="what to draw with; 1 if left out")
    one.add_argument("--count", type=int, default=COUNT, help=f"to draw; {COUNT} if left out")
    one.add_argument("--only", action="append", help="a room or the start of a path; repeatable")
    one.add_argument("--jobs", type=int, default=2, help="at the same time; 2 if left out")
    which = one.add_mutually_exclusive_group()
    which.add_argument("--named", action="store_true", help="those of named.toml alone")
    which.add_argument("--drawn", action="store_true", help="the drawn ones alone")
    one.add_argument("--list", action="store_true", help="show them, and try none")
    options = one.parse_args()
    known = choose.reviewed()
    for old in choose.gone(known):
        raise Stop(f"reviewed.toml: «{old.before}» is no longer in {old.file}")
    todo = chosen(options, known)
    if options.list:
        for mutant, _ in todo:
            source = choose.read(mutant.path)
            print(f"{mutant.path}:{mutant.line(source)}  {mutant.how}")
            print("        - {}\n        + {}".format(*mutant.shown(source)))
        return
    signal.signal(signal.SIGTERM, _terminated)
    done = run(todo, known, options.jobs)
    text, good = summary(done, known)
    print(text)
    file = ROOT / "_build" / "mutants.json"
    file.parent.mkdir(exist_ok=True)
    content = {"seed": options.seed, "mutants": [asdict(outcome) for outcome in done]}
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    raise SystemExit(not good)
