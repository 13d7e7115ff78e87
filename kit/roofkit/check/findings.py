"""Sentences about unexplained wrong values; they reveal no right value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofkit.words import _

from .answers import Answer
from .plain_data import Plain, has_names, same
from .plot_reading import looked_at
from .slips import Pair, slip
from .wording import case_text, listed, returned, written


@dataclass(frozen=True)
class Findings:
    """The answers to some cases, the expected values, and which answers are right."""

    seen: Sequence[Answer]
    expected: Sequence[Plain]
    right: Sequence[bool]
    cases: Sequence[Mapping[str, Any]]
    tolerance: float

    @property
    def pairs(self) -> list[Pair]:
        """Each wrong number with the right one; right entries of containers are left out."""
        return [pair for pair in self._numbers() if not self._same(*pair)]

    @property
    def fine(self) -> list[float]:
        """The correct numbers in the learner's answers."""
        return [pair[0] for pair in self._numbers() if self._same(*pair)]

    @property
    def names(self) -> bool:
        """Whether the question asks for names."""
        return all(map(has_names, self.expected))

    def sentences(self, private: bool) -> list[str]:
        """Return a hint, if one is known, and a sentence about a wrong case.

        Without `private`, a summary without values comes before the hint.
        """
        first = self.right.index(False)
        if self.names:
            hints = [self._about_names(private)]
        else:
            hints = list(filter(None, [slip(self.pairs, self.fine)]))
        if private:
            return [*hints, self.shown(first)]
        if any(self.right):
            return [_("The values are not as expected: some cases are right."), *hints]
        return [_("The values are not as expected: no case is right in full."), *hints]

    def shown(self, number: int) -> str:
        """Return a sentence with the learner's own value and its case."""
        value, expected, case = self.seen[number].value, self.expected[number], self.cases[number]
        if "sizes" in case and isinstance(value, dict):
            return self._curve(value, expected, case)
        about = {"case": case_text(case), "value": returned(value)}
        if isinstance(expected, dict):
            off = [key for key, entry in value.items() if not self._same(entry, expected[key])]
            about |= {"value": written(value[off[0]]), "name": off[0]}
            if len(off) == 1:
                said = _("For {case} you returned {value} for {name}, which is not it.")
                return said.format(**about)
            said = _(
                "For {case} you returned {value} for {name}, which is not it (and {count} more "
                "that are not it)."
            )
            return said.format(**about, count=len(off) - 1)
        said = _("For {case} you returned {value}, which is not it.")
        if isinstance(expected, list) and not self.names and len(expected) > 1:
            pairs = enumerate(zip(value, expected, strict=True), start=1)
            off = [str(place) for place, pair in pairs if not self._same(*pair)]
            if off == ["1"]:
                said = _("For {case} you returned {value}, which is not it (the first).")
            elif off == ["2"]:
                said = _("For {case} you returned {value}, which is not it (the second).")
            elif len(expected) == 2:
                said = _("For {case} you returned {value}, which is not it (neither of the two).")
            else:
                said = _("For {case} you returned {value}, which is not it (number {places}).")
                about |= {"places": _(", ").join(off)}
        return said.format(**about)

    def _curve(self, value: Plain, expected: Plain, case: Mapping[str, Any]) -> str:
        for size, heights in value.items():
            whose = [other for other, right in expected.items() if self._same(heights, right)]
            if whose and size not in whose:
                said = _("The curve that is named {size} is that of another size.")
                return said.format(size=f"{int(size):,}")
        batches = [case["batches"][at] for at in looked_at(case["batches"])]
        for size, heights in expected.items():
            for batch, height, right in zip(batches, value.get(size, ()), heights, strict=False):
                if not self._same(height, right):
                    shown = written(float(f"{height:.4g}"))
                    return _(
                        "The curve for {size} shows {value} FLOP/s at batch {batch}, by the unit "
                        "of its label, which is not it."
                    ).format(size=f"{int(size):,}", value=shown, batch=written(batch))
        return _("The curves are not those expected.")

    def _about_names(self, private: bool) -> str:
        """Return what is wrong with the names; quote names only if `private`."""
        pairs = [
            (set(answer.value), set(names))
            for answer, names in zip(self.seen, self.expected, strict=True)
            if not answer.problem and isinstance(answer.value, list)
        ]
        missing = any(right - named for named, right in pairs)
        extra = any(named - right for named, right in pairs)
        named, right = (set().union(*sets) for sets in zip(*pairs, strict=True))
        texts = repr([dict(case) for case in self.cases])
        unknown = sorted(name for name in named if repr(name) not in texts)
        if unknown and all(repr(name) in texts for name in right):
            if not private:
                return _("Some of the names are none of those that were handed in.")
            said = _("Not among the names that were handed in: {names}.")
            return said.format(names=listed(unknown))
        if missing and extra:
            return _("Some names are missing, and some are named that should not be.")
        return _("Some names are missing.") if missing else _("Some are named that should not be.")

    def _numbers(self) -> Iterator[Pair]:
        for answer, expected in zip(self.seen, self.expected, strict=True):
            if not answer.problem:
                yield from number_pairs(answer.value, expected)

    def _same(self, value: Plain, right: Plain) -> bool:
        return same(value, right, self.tolerance)


def number_pairs(value: Plain, expected: Plain) -> Iterator[Pair]:
    """Yield the numbers of two values in pairs; none if the shapes differ."""
    if isinstance(value, dict) and isinstance(expected, dict) and value.keys() == expected.keys():
        value, expected = [value[key] for key in expected], [*expected.values()]
    if isinstance(value, list) and isinstance(expected, list) and len(value) == len(expected):
        for pair in zip(value, expected, strict=True):
            yield from number_pairs(*pair)
    elif isinstance(value, int | float) and isinstance(expected, int | float):
        yield value, expected
