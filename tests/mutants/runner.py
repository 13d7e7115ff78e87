"""Mutation testing: break the code in many random places, and run the tests.

    make mutants
    make mutants MUTANTS_ARGS="--seed 2 --count 200 --only rooflib --jobs 1"

Each fault is put into a copy of the repository, where the cheapest tests that should notice it run
until one fails. named.toml lists faults chosen by hand, and reviewed.toml survivors that were
reviewed. The exit status is 1 if an unreviewed fault survives, or more than 5% of all.

Why not mutmut or cosmic-ray: mutmut 3 mutates only functions (much of the code here is tables),
selects a fault by an environment variable, which a sandbox clears, and wraps functions whose
signatures are inspected here; cosmic-ray has one test command for all files and changes the files
in place. Neither draws with a seed, takes named faults, or changes the catalog or JavaScript.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from queue import SimpleQueue

import choose
from choose import AREAS, ROOT, Reviewed
from mutant import Mutant
from trial import Copy

DEFAULT_COUNT = 200
MAX_SURVIVING_SHARE = 0.05
# Files that `Bench.prove` breaks, at least one for each way in which tests run code: imported,
# forked, in a sandbox, in a browser.
PROOFS = (
    "rooflib/units.py",
    "kit/roofkit/check/compare.py",
    "grading/release/exercises.py",
    "grading/sandbox/inside/refusals.py",
    "kit/roofkit/figures/engine/scene.js",
)


class Stop(SystemExit):
    """The run ends without a result; the text says why in one line."""


@dataclass(frozen=True)
class Outcome:
    """The result for one fault. `by`: the test that noticed it, or ""."""

    area: str
    file: str
    line: int
    how: str
    before: str
    after: str
    named: bool
    by: str
    seconds: float
    cpu_seconds: float
    diff: str = ""
    reviewed: str = ""

    def __str__(self) -> str:
        head = f"{self.file}:{self.line}  {self.how}"
        if self.by:
            return f"killed    {head}  by {self.by}  ({self.seconds:.0f} s)"
        reviewed = f"reviewed: {self.reviewed}\n" if self.reviewed else ""
        return f"SURVIVED  {head}  ({self.seconds:.0f} s)\n{reviewed}{self.diff}"


class Bench:
    """Copies of the repository, and the tests known to pass without a fault."""

    def __init__(self, copies: Sequence[Copy], known: Sequence[Reviewed]) -> None:
        self.free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self.free.put(copy)
        self.known = {(one.file, one.before, one.after): one.why for one in known}
        self.passing: set[str | tuple[str, ...]] = set()

    @contextlib.contextmanager
    def copy(self) -> Iterator[Copy]:
        one = self.free.get()
        try:
            yield one
        finally:
            self.free.put(one)

    def check_without_fault(self, copy: Copy, stage: tuple[str, ...], by: str) -> None:
        """Raise Stop unless the test that failed with a fault passes without it.

        A test that depends on earlier ones in its file fails alone; then run the whole stage.
        """
        if by in self.passing or stage in self.passing:
            return
        if "::" in by and copy.test((by,)).passed:
            self.passing.add(by)
            return
        result = copy.test(stage)
        if not result.passed:
            raise Stop(f"without any fault, {' '.join(stage)} fails already: {result.by}")
        self.passing.add(stage)

    def prove(self, copy: Copy, paths: Sequence[str]) -> None:
        """Raise Stop unless the tests notice syntax errors.

        If they do, they run the code of this copy.
        """
        for path in paths:
            with copy.broken(Mutant(path, 0, 0, "(\n", "proof")):
                if all(copy.test(stage).passed for stage in choose.stages(path)):
                    raise Stop(f"the tests do not run the copy's {path}, but another one")

    def tried(self, mutant: Mutant, named: bool) -> Outcome:
        source = choose.read(mutant.path)
        before, after = mutant.shown(source)
        seconds, cpu_seconds, by = 0.0, 0.0, ""
        with self.copy() as copy:
            for stage in choose.stages(mutant.path):
                with copy.broken(mutant):
                    result = copy.test(stage)
                seconds += result.cost.wall
                cpu_seconds += result.cost.cpu
                if not result.passed:
                    by = result.by
                    self.check_without_fault(copy, stage, by)
                    break
        return Outcome(
            area=choose.area_of(mutant.path),
            file=mutant.path,
            line=mutant.line(source),
            how=mutant.how,
            before=before,
            after=after,
            named=named,
            by=by,
            seconds=round(seconds, 1),
            cpu_seconds=round(cpu_seconds, 1),
            diff=mutant.diff(source),
            reviewed="" if by else self.known.get((mutant.path, before, after), ""),
        )


def chosen(options: argparse.Namespace, known: Sequence[Reviewed]) -> list[tuple[Mutant, bool]]:
    """Return (fault, whether it is a named one) for all faults to try."""
    found = []
    try:
        for one in [] if options.drawn else choose.named():
            found.append((one.mutant(choose.read(one.file)), True))
    except (OSError, ValueError) as error:
        raise Stop(str(error)) from None
    for area, count in choose.shares(0 if options.named else options.count).items():
        found += [(one, False) for one in choose.drawn(area, count, options.seed, known)]
    only = tuple(options.only or ("",))
    return [
        (one, by_name)
        for one, by_name in found
        if one.path.startswith(only) or choose.area_of(one.path) in only
    ]


def run(todo: Sequence[tuple[Mutant, bool]], known: Sequence[Reviewed], jobs: int) -> list[Outcome]:
    """Try all these faults, in one copy of the repository per job."""
    first_stages = {choose.stages(one.path)[0] for one, _ in todo}
    proofs = [path for path in PROOFS if choose.stages(path)[0] in first_stages]
    with contextlib.ExitStack() as stack:
        copies = []
        for _ in range(jobs):
            copies.append(Copy(ROOT))
            stack.callback(copies[-1].remove)
        bench = Bench(copies, known)
        workers = stack.enter_context(ThreadPoolExecutor(jobs))
        stack.callback(_cancel, workers, copies)
        if any(choose.needs_built_site(one.path) for one, _ in todo):
            for said in workers.map(Copy.build_site, copies):
                if said:
                    raise Stop(f"without any fault, the site is not built: {said[-500:]}")
        for proof in [workers.submit(bench.prove, copy, proofs) for copy in copies]:
            proof.result()
        done = []
        for future in as_completed([workers.submit(bench.tried, *one) for one in todo]):
            done.append(future.result())
            print(done[-1], flush=True)
    return done


def _cancel(workers: ThreadPoolExecutor, copies: Sequence[Copy]) -> None:
    """Stop running tests after an error or an interrupt."""
    workers.shutdown(wait=False, cancel_futures=True)
    for copy in copies:
        copy.stop()


def _terminated(*_: object) -> None:
    """Exit through the cleanup, and ignore further SIGTERMs during it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def summary(done: Sequence[Outcome], known: Sequence[Reviewed]) -> tuple[str, bool]:
    """Return a table by area, and whether survivors are few and all reviewed."""
    lines = [f"{'area':<10} {'tried':>6} {'killed':>7} {'survived':>9}"]
    for area in (*AREAS, "all"):
        mine = [one for one in done if area in (one.area, "all")]
        killed = sum(bool(one.by) for one in mine)
        lines.append(f"{area:<10} {len(mine):>6} {killed:>7} {len(mine) - killed:>9}")
    alive = [one for one in done if not one.by]
    unknown = [one for one in alive if not one.reviewed]
    share = len(alive) / max(len(done), 1)
    equivalent = sum(one.equivalent for one in known)
    lines.append(
        f"{share:.1%} survive (at most {MAX_SURVIVING_SHARE:.0%} may), "
        f"{len(unknown)} of them not reviewed; {equivalent} known equivalents were not drawn"
    )
    lines.append(f"tests took {sum(one.cpu_seconds for one in done) / 60:.0f} minutes of CPU time")
    return "\n".join(lines), share <= MAX_SURVIVING_SHARE and not unknown


def read_options() -> argparse.Namespace:
    one = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    one.add_argument("--seed", type=int, default=1, help="seed of the draw, 1 by default")
    one.add_argument(
        "--count",
        type=int,
        default=DEFAULT_COUNT,
        help=f"faults to draw over all areas, {DEFAULT_COUNT} by default",
    )
    one.add_argument("--only", action="append", help="an area or the start of a path; repeatable")
    one.add_argument("--jobs", type=int, default=2, help="copies to test at a time, 2 by default")
    which = one.add_mutually_exclusive_group()
    which.add_argument("--named", action="store_true", help="only those of named.toml")
    which.add_argument("--drawn", action="store_true", help="only the drawn ones")
    one.add_argument("--list", action="store_true", help="show the faults and run no test")
    return one.parse_args()


def main() -> None:
    options = read_options()
    known = choose.reviewed()
    for old in choose.gone(known):
        raise Stop(f"reviewed.toml: «{old.before}» is no longer in {old.file}")
    todo = chosen(options, known)
    if options.list:
        for mutant, _ in todo:
            print(mutant.diff(choose.read(mutant.path)))
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
