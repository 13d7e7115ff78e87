"""Tests of answers about a model on chips: fit, speed, and what would help."""

from __future__ import annotations

import dataclasses

import pytest
from broken_configs import BROKEN, BROKEN_FILES, LLAMA, write

import rooflib as rl
from rooflib import serving
from rooflib.__main__ import main

CASES = [
    ("Llama 3 8B", "H100 SXM", {"B": 16}),
    ("Llama 3 70B", "H100 SXM", {"B": 3, "chips": 4, "S": 2048, "w": "int8", "kv": "fp8"}),
    ("Gemma 3 27B", "TPU v6e", {"B": 4, "chips": 4, "link": "ICI"}),
    ("Mixtral 8x7B", "A100 80GB SXM", {"B": 16, "replicas": 4, "expert_parallel": True}),
    ("DeepSeek-V3", "B200", {"B": 64, "chips": 8, "chunk": 1024}),
    ("Llama 3.1 405B", "TPU v5e", {"B": 1}),
]
SERVED = pytest.mark.parametrize(("name", "chip", "options"), CASES)


def step(served, **change):
    used = dataclasses.replace(served, **change)
    return rl.bound(used.decode, used.chip, used.link or used.chip.links[0])


@SERVED
def test_serving_bounds_match_those_of_its_steps(name, chip, options):
    served = rl.Serving(name, chip, **options)
    model, link = rl.model(name), options.get("link", rl.chip(chip).links[0])
    layout = {k: v for k, v in options.items() if k not in ("B", "S", "link", "chunk")}
    decode = model.decode(options["B"], options.get("S", 8192), **layout)
    assert served.per_token.lower == rl.bound(decode, chip, link).lower
    prompt = model.prefill(options.get("replicas", 1), options.get("S", 8192),
                           chunk=options.get("chunk"), **layout)  # fmt: skip
    assert served.first_token.upper == rl.bound(prompt, chip, link).upper
    assert served.tokens_per_second * served.per_token.lower == pytest.approx(options["B"])


@SERVED
def test_as_many_sequences_and_positions_fit_as_stated(name, chip, options):
    served = rl.Serving(name, chip, **options)
    count, replicas = served.sequences, served.replicas
    assert not step(served, B=count + replicas).fits
    assert count == 0 or step(served, B=count).fits
    longest = served.positions
    assert not step(served, S=longest + 1).fits
    assert longest == 0 or step(served, S=longest).fits
    assert (longest >= served.S) == bool(served.per_token.fits) == (count >= served.B)


def test_positions_are_limited_to_what_a_32_bit_python_can_count():
    """Check the limit in a web page, whose 32-bit Python counts up to 2³¹ - 1."""
    assert serving.MAX_POSITIONS < 2**31
    vast = rl.Chip("vast", {"bf16": 1e15}, 1e12, capacity=1e30)
    assert rl.Serving("Llama 3 8B", vast).positions == 2**30


def test_models_and_chips_can_be_passed_by_name():
    named = rl.Serving("llama-3-8b", "h100-sxm")
    assert named == rl.Serving(rl.model("Llama 3 8B"), rl.chip("H100 SXM"))


def test_one_sequence_of_8192_positions_is_served_by_default():
    assert rl.Serving("Mixtral 8x7B", "H100 SXM") == rl.Serving(
        "Mixtral 8x7B", "H100 SXM", B=1, S=8192, chips=1, replicas=1, expert_parallel=False
    )


@SERVED
def test_suggested_changes_are_sorted_by_tokens_per_second(name, chip, options):
    served = rl.Serving(name, chip, **options)
    rates = [other.tokens_per_second for _, other in served.changes]
    assert rates == sorted(rates, reverse=True)
    names = [change for change, _ in served.changes]
    assert len(set(names)) == len(names) >= 3


@SERVED
def test_the_table_of_changes_compares_them_with_the_current_setup(name, chip, options):
    served = rl.Serving(name, chip, **options)
    now = served.tokens_per_second
    expected = [
        (change, rl.text(then.per_token.lower, "s"), rl.text(then.tokens_per_second),
         rl.text(then.tokens_per_second / now), then.per_token.binding,
         "yes" if then.per_token.held <= then.chip.capacity else "no")
        for change, then in [("as it is", served), *served.changes]
    ]  # fmt: skip
    assert served.changes_table.rows == expected


def test_the_table_gives_memory_times_and_rates():
    served = rl.Serving("Llama 3 8B", "H100 SXM", B=16, S=4096, chips=2)
    first, each = served.first_token, served.per_token
    rows = dict(served.table.rows)
    assert rows["HBM needed"] == f"{rl.text(each.held, 'B')} of {rl.text(each.capacity, 'B')}"
    assert rows["fits"] == "yes"
    assert rows["sequences of 4,096 that fit"] == f"{served.sequences:,}"
    assert rows["positions of 16 sequences that fit"] == f"{served.positions:,}"
    for name, bounds in (("time to the first token", first), ("time per token", each)):
        assert rows[name] == f"{rl.text(bounds.lower, 's')} to {rl.text(bounds.upper, 's')}"
    # Each step of `each.lower` seconds gives every sequence one token.
    assert rows["tokens/s of a sequence, at most"] == rl.text(1 / each.lower)
    assert rows["tokens/s in all, at most"] == rl.text(16 / each.lower)
    assert rows["prefill is bound by"] == "compute"
    assert rows["decode is bound by"] == "HBM"
    # 405 GB of weights don't fit into 16 GB.
    assert dict(rl.Serving("Llama 3.1 405B", "TPU v5e").table.rows)["fits"] == "no"


def test_each_suggested_change_alters_one_setting():
    served = rl.Serving("Mixtral 8x7B", "H100 SXM", B=16, chips=2)
    changes = dict(served.changes)
    assert set(changes) == {"weights in int8", "weights in int4", "cache in fp8", "twice the batch",
                            "twice the chips", "whole experts on each chip",
                            "the next chip, H200 SXM"}  # fmt: skip
    assert changes["twice the batch"] == dataclasses.replace(served, B=32)
    assert changes["twice the chips"] == dataclasses.replace(served, chips=4)
    whole = changes["whole experts on each chip"]
    assert whole == dataclasses.replace(served, expert_parallel=True)
    assert changes["the next chip, H200 SXM"].chip == rl.chip("H200 SXM")
    assert changes["weights in int8"].decode.compute.name == "bf16"
    assert changes["cache in fp8"].decode.held < served.decode.held


def test_narrower_weights_keep_the_type_of_the_activations():
    types = {"w": "int8", "x": "fp16"}
    changes = dict(rl.Serving("Llama 3 8B", "H100 SXM", **types).changes)
    assert "weights in int8" not in changes
    assert changes["weights in int4"].decode == rl.model("Llama 3 8B").decode(
        1, 8192, w="int4", x="fp16"
    )


@pytest.mark.parametrize(
    ("layout", "offered"),
    [
        ({}, False),
        ({"chips": 2}, True),
        ({"replicas": 2}, True),
        ({"chips": 2, "expert_parallel": True}, False),
    ],
)
def test_whole_experts_are_suggested_where_chips_share_the_experts(layout, offered):
    changes = rl.Serving("Mixtral 8x7B", "H100 SXM", B=4, **layout).changes
    assert ("whole experts on each chip" in dict(changes)) == offered


@pytest.mark.parametrize(
    ("chip", "types", "expected"),
    [
        ("TPU v6e", {}, ["the next chip, TPU v5p"]),  # skips the A100: not by Google
        ("TPU v5p", {}, ["the next chip, TPU7x"]),
        ("B200", {}, ["the next chip, GB200"]),  # which isn't in the catalog's tables
        ("TPU v5p", {"w": "int8", "x": "int8"}, []),  # the TPU7x has no int8
    ],
)
def test_the_next_chip_is_of_the_same_maker_and_supports_the_types(chip, types, expected):
    changes = rl.Serving("Llama 3 8B", chip, B=1, chips=4, **types).changes
    assert [name for name, _ in changes if "chip," in name] == expected


def test_impossible_changes_are_not_suggested():
    names = [name for name, _ in rl.Serving("Llama 3 8B", "GB200", B=1, chips=32, S=64).changes]
    assert "twice the chips" not in names  # 32 heads can't be split over 64 chips
    assert not any("next chip" in name for name in names)
    narrow = rl.Serving("gpt-oss 120B", "H100 SXM", B=1, kv="fp8").changes
    assert not {"weights in int8", "weights in int4", "cache in fp8"} & {name for name, _ in narrow}


def test_a_price_gives_the_cost_at_the_lower_and_the_upper_bound():
    served = rl.Serving("Llama 3 8B", "H100 SXM", B=16, chips=2, replicas=4, price=3)
    hours = served.per_token.lower * 1e6 / 16 / 3600
    assert served.cost() == pytest.approx(8 * 3 * hours)
    assert served.cost(upper=True) / served.cost() == pytest.approx(
        served.per_token.upper / served.per_token.lower
    )
    assert "cost of a million tokens" in str(served.table)
    assert "cost" not in str(rl.Serving("Llama 3 8B", "H100 SXM").table)
    with pytest.raises(ValueError, match="price must be given for a cost"):
        rl.Serving("Llama 3 8B", "H100 SXM").cost()


WRONG = [
    ({"B": 0}, ValueError, "B must be above zero"),
    ({"B": [1, 2]}, TypeError, "B must be one number"),
    ({"S": 1.5}, ValueError, "S must be a whole number"),
    ({"chips": 3}, ValueError, "chips must divide N; got N=32, chips=3; Llama 3 8B can be split"),
    ({"price": 0}, ValueError, "price must be above zero"),
    ({"link": "ICI", "chips": 2}, ValueError, "link must be one that H100 SXM has"),
    ({"compute": "fp4"}, ValueError, "compute must be a type that the matrix units"),
]


@pytest.mark.parametrize(("options", "kind", "message"), WRONG)
def test_wrong_arguments_of_serving_are_named_in_the_error(options, kind, message):
    with pytest.raises(kind, match=message):
        rl.Serving("Llama 3 8B", "H100 SXM", **options)


def test_a_chip_without_links_can_only_serve_alone():
    own = rl.Chip("own", {"bf16": 1e14}, 1e12, 64e9)
    assert rl.Serving("Llama 3 8B", own).per_token.fits
    with pytest.raises(ValueError, match="link must be given"):
        rl.Serving("Llama 3 8B", own, chips=2)


def test_one_chip_uses_a_link_only_if_it_is_named():
    def roofs(**options):
        served = rl.Serving("Llama 3 8B", "H100 SXM", B=2, **options)
        return {*served.per_token.times, *served.decode_table.columns}

    assert "NVLink" not in roofs()
    assert "NVLink" in roofs(link="NVLink")
    assert "NVLink" in roofs(chips=2)
    assert "NVLink" in roofs(replicas=2)
    assert "NVLink" in roofs(chips=2, replicas=2)


@pytest.mark.parametrize("name", ["Llama 3 8B", "gpt-oss 120B"])
def test_a_breakdown_has_a_row_for_each_part_and_the_step(name):
    op = rl.model(name).decode(4, 4096, 8)
    table = rl.breakdown(op, "H100 SXM", "NVLink")
    assert [row[0] for row in table.rows] == [*(part.name for part in op.parts), "step"]
    bounds = [rl.bound(part, "H100 SXM", "NVLink") for part in op.parts]
    whole = rl.bound(op, "H100 SXM", "NVLink")
    for roof in ("compute", "HBM", "NVLink"):
        times = [bound.times.get(roof, 0) for bound in bounds]
        assert sum(times) == pytest.approx(whole.times[roof], rel=1e-12)
        assert list(table.columns[roof]) == [rl.text(t, "s") for t in (*times, whole.times[roof])]
    spent = sum(bound.lower for bound in bounds)
    shares = [rl.percent(bound.lower / spent) for bound in bounds]
    assert list(table.columns["share"]) == [*shares, "100%"]
    assert list(table.columns["binding"]) == [*(bound.binding for bound in bounds), whole.binding]
    for i, each in enumerate([*op.parts, op]):
        sent = sum(each.sent.values())
        counts = {"loaded": each.loaded, "written": each.written, "held": each.held, "sent": sent}
        shown = {"FLOPs": rl.text(each.flops, "FLOP"), "FLOP/B": rl.text(each.intensity)}
        shown |= {count: rl.text(size, "B") for count, size in counts.items()}
        assert {column: table.columns[column][i] for column in shown} == shown


def test_a_part_without_work_at_a_roof_takes_no_time_there():
    first, second = rl.matmul(64, 64, 64), rl.attention(1, 64, 64, 8, 8, 64)
    step = dataclasses.replace(second, parts=(first, second))
    times = rl.breakdown(step, "H100 SXM").columns["vector"]
    vector = rl.text(rl.bound(second, "H100 SXM").times["vector"], "s")
    assert list(times) == [rl.text(0, "s"), vector, vector]


def test_a_breakdown_of_an_operation_without_parts_has_one_row():
    table = rl.breakdown(rl.matmul(64, 4096, 4096), "H100 SXM")
    assert [row[0] for row in table.rows] == ["matmul", "step"]


def test_the_model_command_prints_the_table_breakdowns_and_changes(capsys, tmp_path):
    path = tmp_path / "step.svg"
    options = ["--chips", "2", "--batch", "32", "--context", "4096", "--price", "2.5"]
    config = write(tmp_path, LLAMA | {"num_key_value_heads": 2})
    main(["model", str(config), "H100 SXM", *options, "--plot", str(path)])
    shown = capsys.readouterr().out
    served = rl.Serving(rl.model_from_config(config), "H100 SXM", B=32, S=4096, chips=2, price=2.5)
    parts = [rl.breakdown(step, "H100 SXM", "NVLink") for step in (served.decode, served.prefill)]
    named = [served.table, "decode step:", parts[0], "prefill of a prompt:", parts[1]]
    assert shown == "\n\n".join(map(str, [*named, served.changes_table])) + "\n"
    assert served._repr_markdown_() == served.table._repr_markdown_()
    assert all(part in path.read_text() for part in ("attention", "projections", "HBM of H100 SXM"))


def test_the_model_command_takes_a_catalog_name_and_serving_options(capsys):
    main(["model", "mixtral-8x7b", "h100-sxm", "--replicas", "4", "--batch", "8", "--chunk", "512",
          "--expert-parallel", "--w", "int8", "--kv", "fp8", "--x", "bf16", "--compute", "bf16",
          "--experts", "most", "--link", "NVLink"])  # fmt: skip
    shown = capsys.readouterr().out
    options = {"chunk": 512, "expert_parallel": True, "w": "int8", "kv": "fp8", "experts": "most"}
    served = rl.Serving("Mixtral 8x7B", "H100 SXM", B=8, replicas=4, link="NVLink", **options)
    assert str(served.decode_table) in shown
    assert str(served.prefill_table) in shown


MISTAKES = [
    (["model"], "model takes MODEL CHIP and options, see --help; got none"),
    (["model", "Llama 3 8B"], "model takes MODEL CHIP and options, see --help; got Llama 3 8B"),
    (["model", "Llama 3 8B", "H100 SXM", "--speed", "9"], "see --help; got --speed"),
    (["model", "Llama 3 8B", "H100 SXM", "--cont", "9"], "see --help; got --cont"),
    (["model", "Llama 3 8B", "H100 SXM", "--model", "Llama 2 7B"], "see --help; got --model"),
    (["model", "Llama 3 8B", "H100 SXM", "--chip", "B200"], "see --help; got --chip"),
    (["model", "Llama", "H100 SXM"], "model must be one of Llama 2 7B"),
    (["model", "Llama 3 8B", "H100"], "chip must be one of"),
    (["model", "none.json", "H100 SXM"], "No such file or directory: 'none.json'"),
    (["model", "Llama 3 8B", "H100 SXM", "--batch", "two"], "batch must be a number; got 'two'"),
    (["model", "Llama 3 8B", "H100 SXM", "--chips", "3"], "can be split over 1, 2, 4, 8, 16, 32"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES)
def test_mistakes_at_the_command_line_print_one_line(capsys, command, message):
    with pytest.raises(SystemExit) as ended:
        main(command)
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err.startswith("rooflib: ")
    assert shown.err.count("\n") == 1
    assert message in shown.err


CONTENTS = BROKEN | {name: entry for name, entry in BROKEN_FILES.items() if name != "100 MB"}


@pytest.mark.parametrize(("content", "message"), CONTENTS.values(), ids=CONTENTS)
def test_broken_configs_print_one_line(capsys, tmp_path, content, message):
    with pytest.raises(SystemExit) as ended:
        main(["model", str(write(tmp_path, content)), "H100 SXM"])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err.startswith("rooflib: ")
    assert shown.err.count("\n") == 1
    assert message in shown.err
