"""What is said about a model on chips agrees with its steps: fit, times, and what would help."""

import dataclasses

import pytest

import rooflib as rl

CASES = [
    ("Llama 3 8B", "H100 SXM", {"B": 16}),
    ("Llama 3 70B", "H100 SXM", {"B": 3, "chips": 4, "S": 2048, "w": "int8", "kv": "fp8"}),
    ("Gemma 3 27B", "TPU v6e", {"B": 4, "chips": 4, "link": "ICI"}),
    ("Mixtral 8x7B", "A100 80GB SXM", {"B": 16, "replicas": 4, "expert_parallel": True}),
    ("DeepSeek-V3", "B200", {"B": 64, "chips": 8, "chunk": 1024}),
    ("Llama 3.1 405B", "TPU v5e", {"B": 1}),
]


def step(served: rl.Serving, **change: int) -> rl.Times:
    used = dataclasses.replace(served, **change)
    return used.decode.on(used.chip, used.link or used.chip.links[0])


@pytest.mark.parametrize(("name", "chip", "options"), CASES)
def test_times_and_room_are_those_of_the_steps(name, chip, options):
    served, model = rl.Serving(name, chip, **options), rl.model(name)
    B, S, link = served.B, options.get("S", 8192), options.get("link", rl.chip(chip).links[0])
    layout = {
        key: value for key, value in options.items() if key not in ("B", "S", "link", "chunk")
    }
    token = model.decode(B, S, **layout).on(chip, link)
    assert served.per_token.lower == token.lower
    prompt = model.prefill(served.replicas, S, chunk=options.get("chunk"), **layout)
    assert served.first_token.upper == prompt.on(chip, link).upper
    assert served.tokens_per_second == pytest.approx(B / token.lower)
    # As many sequences and positions fit as it says, and not one more.
    count, longest = served.sequences, served.positions
    assert not step(served, B=count + served.replicas).fits
    assert count == 0 or step(served, B=count).fits
    assert not step(served, S=longest + 1).fits
    assert longest == 0 or step(served, S=longest).fits
    assert (longest >= S) == bool(served.per_token.fits) == (count >= B)
    rows = {row[0]: row[1] for row in served.table.rows}
    assert rows["fits"] == ("yes" if token.fits else "no")
    assert rows["time per token"] == f"{token.lower} to {token.upper}"
    assert rows["tokens/s in all, at most"] == f"{rl.Quantity(B / token.lower)}"
    assert rows["decode is bound by"] == token.roof


@pytest.mark.parametrize(("name", "chip", "options"), CASES)
def test_suggestions_change_one_thing_and_are_sorted_by_what_they_bring(name, chip, options):
    served = rl.Serving(name, chip, **options)
    rates = [other.tokens_per_second for _, other in served.changes]
    assert rates == sorted(rates, reverse=True)
    assert len(rates) >= 2
    now = served.tokens_per_second
    table = {row[0]: row for row in served.changes_table.rows}
    for change, other in served.changes:
        fields = [field.name for field in dataclasses.fields(served)]
        changed = [each for each in fields if getattr(other, each) != getattr(served, each)]
        # A narrower type may bring the type in which to compute along.
        assert len(set(changed) - {"x", "compute"}) >= 1 or change.startswith("weights"), change
        shown = f"{rl.Quantity(other.tokens_per_second / now)}"
        fits = "yes" if other.per_token.work.held <= other.chip.memory else "no"
        assert shown in table[change]
        assert table[change][-1] == fits


def test_what_cannot_be_done_is_not_suggested():
    def names(*given: object, **options: object) -> set[str]:
        return {change for change, _ in rl.Serving(*given, **options).changes}

    many = names("Llama 3 8B", "H100 SXM", B=1, chips=32, S=64)
    assert "twice the chips" not in many  # 32 heads can't be split over 64 chips
    narrow = names("gpt-oss 120B", "H100 SXM", B=1, kv="fp8")
    assert not {"weights in int8", "weights in int4", "cache in fp8"} & narrow
    whole = "whole experts on each chip"
    assert whole in names("Mixtral 8x7B", "H100 SXM", B=4, chips=2)
    assert whole not in names("Mixtral 8x7B", "H100 SXM", B=4)
    assert whole not in names("Llama 3 8B", "H100 SXM", B=4, chips=2)


def test_the_next_chip_is_of_the_same_maker_and_computes_the_same_types():
    for chip in rl.chips():
        types = {"x": "int8", "w": "int8"} if "int8" in chip else {}
        for change, other in rl.Serving("Llama 3 8B", chip, B=1, chips=4, **types).changes:
            if other.chip != chip:
                assert other.chip.name in change
                assert other.chip.maker == chip.maker
                assert other.decode.compute in other.chip or other.per_token.lower > 0


def test_a_price_gives_what_a_million_tokens_cost():
    served = rl.Serving("Llama 3 8B", "H100 SXM", B=16, chips=2, replicas=4, price=3)
    hours = served.per_token.lower * 1e6 / 16 / 3600
    assert served.cost() == pytest.approx(8 * 3 * hours)
    assert served.cost(upper=True) > served.cost()
    assert any("cost" in row[0] for row in served.table.rows)


def test_the_rows_of_a_breakdown_add_up_to_the_step():
    op = rl.model("gpt-oss 120B").decode(4, 4096, 8)
    table = op.on("H100 SXM", "NVLink").parts
    assert [row[0] for row in table.rows] == [*(part.name for part in op.parts), "step"]
    whole = op.on("H100 SXM", "NVLink")
    parts = [part.on("H100 SXM", "NVLink") for part in op.parts]
    for roof in ("compute", "HBM", "NVLink"):
        times = [part.times.get(roof, 0) for part in parts]
        assert sum(times) == pytest.approx(whole.times[roof], rel=1e-12)
        assert table.columns[roof] == [
            f"{rl.Quantity(time, 's')}" for time in (*times, whole.times[roof])
        ]
    spent = sum(part.lower for part in parts)
    shares = [f"{part.lower / spent:%}" for part in parts]
    assert list(table.columns["share"]) == [*shares, "100%"]
    assert list(table.columns["roof"]) == [*(part.roof for part in parts), whole.roof]
