"""Decisions which blocks of prose are updated after a reader's changes.

A block's premise is the condition of its {while} role.
"""

import json

import numpy as np
import pytest

from roofkit.following import Reply, state

NAMES = {"n": 6, "word": "six", "half": 3.0, "many": np.int64(12345), "array": np.ones(2)}


def decided(premise: str | None, **values: str) -> tuple[bool, dict[str, str | None]]:
    block = {"values": values} | ({} if premise is None else {"premise": premise})
    found = state(block, dict(NAMES))
    return found["follows"], found["now"]


def test_prose_with_unchanged_values_counts_as_up_to_date() -> None:
    assert decided(None, n="6", word="six", many="12,345") == (True, {})
    assert decided("n > 5", n="6") == (True, {})


def test_prose_with_changed_values_and_no_while_role_is_not_updated() -> None:
    assert decided(None, n="5", word="six") == (False, {"n": "6"})


def test_prose_with_changed_values_is_updated_if_its_while_role_holds() -> None:
    assert decided("n > 5", n="5", many="1") == (True, {"n": "6", "many": "12,345"})
    assert decided("True", n="5") == (True, {"n": "6"})


@pytest.mark.parametrize("premise", ["n > 6", "0", "[]", "missing", "1 / 0", "array", "n >"])
def test_prose_whose_while_role_fails_is_not_updated(premise: str) -> None:
    assert decided(premise, n="5") == (False, {"n": "6"})
    # It isn't updated either if no value changed, or if the block has no values.
    assert decided(premise, n="6") == (False, {})
    assert decided(premise) == (False, {})


@pytest.mark.parametrize("expression", ["half", "True", "None", "1 / 0", "missing"])
def test_prose_with_a_value_of_an_unsupported_type_or_an_error_is_not_updated(
    expression: str,
) -> None:
    assert decided("n > 5", **{expression: "6"}) == (False, {expression: None})


def test_missing_names_are_distinguished_from_other_errors() -> None:
    names = dict(NAMES)
    assert state({"values": {"missing": "6"}}, names)["undefined"]
    assert state({"values": {}, "premise": "missing"}, names)["undefined"]
    assert not state({"values": {"1 / 0": "6"}, "premise": "[][0]"}, names)["undefined"]


def test_evaluating_expressions_defines_no_names() -> None:
    names = dict(NAMES)
    state({"values": {"[x for x in (1, 2)]": "6"}, "premise": "n"}, names)
    assert {name for name in names if name != "__builtins__"} == set(NAMES)


def test_the_states_of_several_blocks_have_a_repr_in_json() -> None:
    blocks = [{"values": {"word": "“5”\n"}, "premise": "n"}, {"values": {"n": "6"}}]
    assert json.loads(repr(Reply(json.dumps(blocks), dict(NAMES)))) == [
        state(block, dict(NAMES)) for block in blocks
    ]
