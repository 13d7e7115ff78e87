"""What is said about a model on chips agrees with its steps: fit, times, and what would help."""

import dataclasses

import pytest

import rooflib as rl
from rooflib.llm import mfu

# What a suggestion says, and which option it changes.
SUGGESTED = {"weights in": "w", "cache in": "kv", "twice the batch": "B",
             "twice the chips": "chips", "whole experts": "expert_parallel",
             "the next chip": "chip"}  # fmt: skip
CASES = [
    ("Llama 3 8B", "H100 SXM", {"B": 16}),
    ("Llama 3 70B", "H100 SXM", {"B": 3, "chips": 4, "S": 2048, "w": "int8", "kv": "fp8"}),
    ("Gemma 3 27B", "TPU v6e", {"B": 4, "chips": 4, "link": "ICI"}),
    ("Mixtral 8x7B", "A100 80GB SXM", {"B": 16, "replicas": 4, "expert_parallel": True}),
    ("DeepSeek-V3", "B200", {"B": 64, "chips": 8, "chunk": 1024}),
    ("Llama 3.1 405B", "TPU v5e", {"B": 1}),
    ("Llama 3 70B", "H100 SXM", {"B": 2, "replicas": 2}),
    ("Llama 3 8B", "H100 SXM", {"B": 400, "S": 128}),
]


def fits(served: rl.Serving, **change: int) -> bool:
    """Return whether a step's weights and cache take at most nine tenths of the memory."""
    used = dataclasses.replace(served, **change)
    return bool(used.per_token.work.held <= 0.9 * used.chip.memory)


@pytest.mark.parametrize(("name", "chip", "options"), CASES)
def test_times_and_room_are_those_of_the_steps(name, chip, options):
    served, model = rl.Serving(name, chip, **options), rl.model(name)
    B, S, link = served.B, options.get("S", 8192), options.get("link", rl.chip(chip).links[0])
    layout = {
        key: value for key, value in options.items() if key not in ("B", "S", "link", "chunk")
    }
    if name == "DeepSeek-V3":
        assert served.per_token.work.compute == "bf16 and fp8"
    token = model.decode(B, S, **layout).on(chip, link)
    assert served.per_token.lower == token.lower
    prompt = model.prefill(served.replicas, S, chunk=options.get("chunk"), **layout)
    assert served.first_token.upper == prompt.on(chip, link).upper
    # As many sequences and positions fit as it says, and not one more.
    count, longest = served.sequences, served.positions
    assert not fits(served, B=count + served.replicas)
    assert count == 0 or fits(served, B=count)
    assert not fits(served, S=longest + 1)
    assert longest == 0 or fits(served, S=longest)
    assert (longest >= S) == served.fits == fits(served) == (count >= B)
    assert served.tokens_per_second == (pytest.approx(B / token.lower) if served.fits else 0)
    first, memory = prompt.on(chip, link), served.chip.memory
    shown = [("fits", "yes" if served.fits else "DOES NOT FIT")]
    shown += [("needed", f"{token.work.held} of {0.9 * memory}"), ("free", f"10% of {memory}")]
    shown += [(f"sequences of {S:,}", f"{count:,}"), (f"positions of {B:,}", f"{longest:,}")]
    if served.fits:
        times = {"first token": first, "per token": token}
        shown += [(what, f"{each.lower} to {each.upper}") for what, each in times.items()]
        rates = {"of a sequence": 1 / token.lower, "in all": B / token.lower}
        shown += [(what, f"{rl.Quantity(rate)}") for what, rate in rates.items()]
        shown += [("prefill", first.roof), ("decode", token.roof)]
    else:  # nothing is said of the speed of what can't run
        shown.append(("fewest", str(served.fewest().chips * served.replicas)))
    assert list(served.table.columns)[1].split()[1] == str(served.chips * served.replicas)
    for (label, cell), (what, value) in zip(served.table.rows, shown, strict=True):
        assert what in label
        assert cell == value


@pytest.mark.parametrize(("name", "chip", "options"), CASES)
def test_suggestions_change_one_thing_and_are_sorted_by_what_they_bring(name, chip, options):
    served = rl.Serving(name, chip, **options)
    rates = [other.tokens_per_second for _, other in served.changes]
    assert rates == sorted(rates, reverse=True)
    assert len(rates) >= 2
    now = served.tokens_per_second
    first, *rows = served.changes_table.rows
    assert first[1:2] == ((f"{served.per_token.lower}",) if served.fits else ("",))
    table = {row[0]: row for row in rows}
    wanted = ("help", "time per token", "tokens/s", "times as many", "bound", "fits")
    assert all(map(str.__contains__, served.changes_table.columns, wanted))
    for change, other in served.changes:
        fields = [field.name for field in dataclasses.fields(served)]
        changed = [each for each in fields if getattr(other, each) != getattr(served, each)]
        said = [option for words, option in SUGGESTED.items() if change.startswith(words)]
        # A narrower type may bring the type in which to compute along.
        assert said == [each for each in changed if each not in ("x", "compute")], change
        for doubled in {"B", "chips"}.intersection(changed):
            assert getattr(other, doubled) == 2 * getattr(served, doubled)
        for narrower in {"w", "kv"}.intersection(changed):
            assert getattr(other, narrower) in change
        rate = other.tokens_per_second
        if fits(other):
            gain = f"{rl.Quantity(rate / now)}" if now else ""
            shown = (f"{other.per_token.lower}", f"{rl.Quantity(rate)}", gain, other.per_token.roof)
        else:
            shown = ("", "", "", "")
        assert table[change][1:] == (*shown, "yes" if fits(other) else "no")


FEWEST = [("Llama 3 8B", 1), ("Llama 3 70B", 4), ("Llama 3.1 405B", 16), ("DeepSeek-V3", 16)]


@pytest.mark.parametrize(("name", "chips"), FEWEST)
def test_a_model_fits_on_the_fewest_chips_and_not_on_fewer(name, chips):
    served = rl.Serving(name, "H100 SXM", B=16)
    found = served.fewest()
    assert (found.chips, found.fits) == (chips, True)
    fewer = [count for count in rl.model(name).splits() if count < chips]
    assert not any(fits(served, chips=count) for count in fewer)
    faster = served.fewest(found.per_token.lower / 1.5)
    assert faster.chips > chips
    assert faster.per_token.lower <= found.per_token.lower / 1.5
    with pytest.raises(ValueError, match=r"\Achips must be so many that .+\Z"):
        served.fewest(1e-9)


def test_the_reserve_is_said_and_can_be_set():
    # vLLM keeps a tenth of the memory, and more for activations: 41,408 positions on this chip.
    whole, kept = (rl.Serving("Llama 3 8B", "RTX 4090", reserve=share) for share in (0, 0.1))
    assert rl.Serving("Llama 3 8B", "RTX 4090").positions == kept.positions
    assert 41_408 < kept.positions < whole.positions == 73_979
    assert whole.table.rows[2][1] == f"0% of {whole.chip.memory}"
    assert whole.room == whole.chip.memory == pytest.approx(kept.room / 0.9)
    with pytest.raises(ValueError, match="reserve must be"):
        rl.Serving("Llama 3 8B", "RTX 4090", reserve=10)


def test_a_step_that_checks_guesses_counts_their_positions_and_loads_weights_once():
    model, (B, S, guesses) = rl.model("Llama 3 8B"), (4, 1000, 3)
    check = model.decode(B, S + guesses, T=guesses + 1)
    each = [model.decode(B, S + i) for i in range(guesses + 1)]
    assert check.flops == sum(step.flops for step in each)
    assert check.loaded < 1.1 * each[-1].loaded
    served = rl.Serving(model, "H100 SXM", B=B, S=S)
    token = served.per_token.lower
    # One guess in two is right: after the step's own token 1/2 + 1/4 + 1/8 more, on average.
    checked = check.on("H100 SXM").lower
    assert served.guessed(guesses, 0.5).lower == pytest.approx(checked / 1.875)
    assert served.guessed(guesses, 0).lower == pytest.approx(checked)
    assert served.guessed(guesses, 1).lower < token / 3
    draft = 3 * rl.model("Llama 3.2 1B").decode(B, S)
    by_draft = served.guessed(guesses, 0.5, "Llama 3.2 1B").lower
    assert by_draft == pytest.approx((check + draft).on("H100 SXM").lower / 1.875)
    # A draft as large as the model brings nothing, even if all its guesses are right.
    assert served.guessed(guesses, 1, model).lower > 0.99 * token


# A model with a draft that is split as it is, or over fewer chips; stored in what the chip lacks.
DRAFTS = [
    ("Llama 3 70B", "H100 SXM", "Llama 3 8B", {"chips": 4}, 4),
    ("Llama 3 70B", "H100 SXM", "Llama 3.2 1B", {"chips": 64}, 32),
    ("Mixtral 8x7B", "H100 SXM", "Llama 3.2 1B", {"replicas": 4, "expert_parallel": True}, 1),
    ("Llama 3 70B", "A100 80GB SXM", "DeepSeek-V3", {"chips": 16}, 16),
]


@pytest.mark.parametrize(("name", "chip", "draft", "how", "chips"), DRAFTS)
def test_models_that_check_and_guess_are_both_held_once(name, chip, draft, how, chips):
    served = rl.Serving(name, chip, B=16, S=1000, **how)
    group = {"chips": chips, "replicas": served.replicas}
    own = dataclasses.replace(served, S=1003).per_token.work.held
    held = own + rl.Serving(draft, chip, B=16, S=1000, **group).per_token.work.held
    for rate in (0, 0.9):
        alone, both = (served.guessed(3, rate, each).work for each in (None, draft))
        for step, expected in ((alone, own), (both, held)):
            assert step.held == pytest.approx(expected)
            assert sum(part.held for part in step.parts) == pytest.approx(expected)


def test_a_cached_share_of_a_prompt_is_not_computed_again():
    model = rl.model("Gemma 3 27B")
    whole, start = model.prefill(1, 8192, logits="all"), model.prefill(1, 6000, logits="all")
    rest = model.prefill(1, 8192, cached=6000, logits="all")
    assert rest.flops == whole.flops - start.flops
    ahead = rl.Serving(model, "H100 SXM", chips=2, cached=6000).first_token.lower
    assert ahead < 0.4 * rl.Serving(model, "H100 SXM", chips=2).first_token.lower


@pytest.mark.parametrize("replicas", [1, 2])
def test_stages_hold_a_part_of_the_layers_and_pass_groups_on(replicas):
    how = {"B": 16 * replicas, "replicas": replicas}
    one = rl.Serving("Llama 3 70B", "H100 SXM", chips=4, **how)
    two = dataclasses.replace(one, stages=2)
    assert two.per_token.work.held == pytest.approx(one.per_token.work.held / 2)
    for step in (two.per_token.work, dataclasses.replace(two, chunk=512).first_token.work):
        assert sum(part.held for part in step.parts) == pytest.approx(step.held)
    # Each stage takes half of the layers, twice, for half of the sequences.
    half = rl.model("Llama 3 70B").decode(8, 8192, 4)
    assert two.per_token.work.flops == pytest.approx(half.flops)
    assert two.per_token.work.sent - half.sent == pytest.approx(2 * 16 * 8192)
    assert two.per_token.work.hops == half.hops + 2
    # Four positions that a step checks pass on together.
    checks = rl.model("Llama 3 70B").decode(8, 8195, 4, T=4)
    assert two.guessed(3, 0).work.sent - checks.sent == pytest.approx(4 * 2 * 16 * 8192)
    assert two.first_token.lower == pytest.approx(one.first_token.lower)  # one after the other
    chunked = dataclasses.replace(two, chunk=512)
    assert chunked.first_token.work.flops < 0.6 * one.first_token.work.flops


@pytest.mark.parametrize(("replicas", "stages"), [(1, 1), (2, 1), (1, 2)])
def test_prefill_and_decode_apart_need_chips_in_proportion(replicas, stages):
    how = {"replicas": replicas, "stages": stages}
    served = rl.Serving("Llama 3 70B", "H100 SXM", B=32, chips=8, S=4096, **how)
    each = 32 / (200 * served.per_token.lower)
    cache = 4096 * rl.model("Llama 3 70B").kv_bytes_per_token()
    way = cache / 8 / stages / rl.chip("H100 SXM")["NVLink"]  # each chip sends its part
    # The cache counts once, though 16 chips hold each of its 8 heads twice.
    spread = rl.Serving("Llama 3 70B", "H100 SXM", B=32, chips=16, S=4096, replicas=replicas)
    assert dict(spread.separate(200).rows)["a prompt's cache"] == f"{cache}"
    for other in ("H100 SXM", "B200"):
        # All stages are busy, each with a part of another prompt.
        alone = dataclasses.replace(served, chip=other, stages=1)
        prompts = replicas * stages / alone.first_token.lower
        rates = [f"{rl.Quantity(rate)}" for rate in (each, prompts, each / prompts)]
        table = served.separate(200, other)
        assert [row[1] for row in table.rows] == [*rates, f"{cache}", f"{way}"]
        words = ("of decode", "of prefill", "prefill for one of decode", "cache", "way")
        assert all(word in row[0] for word, row in zip(words, table.rows, strict=True))
        assert other in list(table.columns)[1]


def test_mfu_is_the_share_of_the_peak_without_what_is_computed_again():
    plain, again = (
        rl.model("Llama 3 8B").train(1, 8192, 64, recompute=recompute)
        for recompute in (False, True)
    )
    peak = rl.chip("H100 SXM")["bf16"]
    assert mfu(plain, "H100 SXM", 2) == pytest.approx(plain.flops / peak / 2)
    assert mfu(again, "H100 SXM", 2) == mfu(plain, "H100 SXM", 2)
    assert mfu(rl.work("copy", loaded=1e9), "H100 SXM", 2) == 0


# The first token of a prompt of 8,192 on 8 × H200: DeepSeek's fp8 with fp8 activations.
def test_a_checkpoint_in_fp8_computes_in_fp8_where_the_chip_can():
    fp8 = rl.Serving("DeepSeek-V3", "H200 SXM", chips=8)
    bf16 = dataclasses.replace(fp8, x="bf16")
    assert fp8.first_token.lower == pytest.approx(bf16.first_token.lower / 2, rel=0.03)
    older = rl.Serving("DeepSeek-V3", "A100 80GB SXM", chips=16)
    assert older.per_token.work.compute == "bf16"


def test_what_cannot_be_done_is_not_suggested():
    def names(*given: object, **options: object) -> set[str]:
        return {change for change, _ in rl.Serving(*given, **options).changes}

    # Weights in int4 are multiplied as those in fp8 were.
    narrower = dict(rl.Serving("DeepSeek-V3", "H200 SXM", chips=8).changes)["weights in int4"]
    assert narrower.per_token.work.compute == "fp8"
    # All else is.
    found = names("Mixtral 8x7B", "H100 SXM", B=4, chips=2)
    for words in (*SUGGESTED, "weights in int8", "weights in int4"):
        assert any(each.startswith(words) for each in found), words
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
        kind = "int8" if "int8" in chip else "bf16"
        types = {"x": kind, "w": kind}
        for change, other in rl.Serving("Llama 3 8B", chip, B=1, chips=4, **types).changes:
            if other.chip != chip:
                assert other.chip.name in change
                assert other.chip.maker == chip.maker
                assert other.per_token.work.compute in other.chip or other.per_token.lower > 0
                # It has the next higher bandwidth of those that don't compute slower.
                assert not any(
                    each.rates.get(kind, 0) >= chip[kind]
                    for each in rl.chips(hidden=True)
                    if each.maker == chip.maker and chip["HBM"] < each["HBM"] < other.chip["HBM"]
                )


def test_a_price_gives_what_a_million_tokens_cost():
    served = rl.Serving("Llama 3 8B", "H100 SXM", B=16, chips=2, replicas=4, price=3)
    hours = served.per_token.lower * 1e6 / 16 / 3600
    ratio = served.per_token.upper / served.per_token.lower
    low, high = map(float, served.table.rows[-1][1].split(" to "))
    assert (low, high) == pytest.approx((8 * 3 * hours, ratio * 8 * 3 * hours), rel=0.01)
    # What doesn't fit costs nothing.
    large, priced = (rl.Serving("Llama 3.1 405B", "H100 SXM", price=each) for each in (None, 3))
    assert priced.table.rows == large.table.rows
