"""The model figure: counts, shares and the list of what would help match rooflib."""

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import live_pages
import pytest
from broken_configs import BROKEN, DEEPSEEK, GEMMA, LLAMA, QWEN, quantized, write
from live_pages import chip_of, settled
from playwright.sync_api import Browser, BrowserContext
from series import series

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine.own_chip import OWN
from roofkit.figures.model_rows import row
from rooflib.catalog import models
from rooflib.models import ROWS
from rooflib.operations import Operation
from rooflib.serving import Serving

Settings = dict[str, Any]
FIGURE = figures.model()
MODELS = [model.name for model in models()]


def step(settings: Settings, own: rl.Model | None = None, **changed: Any) -> Operation:
    """Return rooflib's operation for the decode or prefill step of these settings."""
    at = settings | changed
    model = own or rl.model(at["model"])
    w = None if at["w"] == "as stored" else at["w"]
    types = {"w": w, "x": at["x"]}
    # Compute in the common type of activations and weights, whatever the type of the cache.
    compute = at.get("compute") or model.decode(1, 1, kv=at["x"], **types).compute
    types |= {"kv": at["kv"], "compute": compute}
    layout = {"expert_parallel": whole(at), "replicas": int(at["replicas"])}
    sizes = int(at["B"]), int(at["S"]), int(at["chips"])
    if at["phase"] == "decode":
        return model.decode(*sizes, **layout, **types)
    return model.prefill(*sizes, chunk=chunk(at), **layout, **types)


def whole(settings: Settings) -> bool:
    return bool(settings["experts"] == "whole on a chip")


def chunk(settings: Settings) -> int | None:
    """Return the chunk size, such as 1024 for "1,024 tokens"; None if not chunked."""
    digits = "".join(filter(str.isdigit, settings["read"]))
    return int(digits) if digits else None


def bounds(op: Operation, chip: str) -> rl.Bounds:
    at = chip_of(chip)
    return rl.bound(op, at, at.links[0] if at.links and op.sent else None)


def drawn_settings(name: str, number: int) -> Iterator[Settings]:
    draw = random.Random(name)
    for _ in range(number):
        yield drawn_setting(draw, name)


def drawn_setting(draw: random.Random, name: str) -> Settings:
    """Choose a random value for every control.

    With a chance of one half each, layout and activation type keep their starting values, which
    fit any model.
    """
    settings = {control.name: draw.choice(control.options) for control in FIGURE.controls}
    for control in FIGURE.controls:
        if control.name in ("chips", "replicas", "experts", "x") and draw.random() < 0.5:
            settings[control.name] = control.start
    return settings | {"model": name}


def refusal(settings: Settings, own: rl.Model | None = None) -> str:
    """Return rooflib's error message if it can't count or time this step, else ""."""
    try:
        bounds(step(settings, own), settings["chip"])
    except (ValueError, IndexError) as error:
        return str(error)
    return ""


def oracle(settings: Settings, own: rl.Model | None = None) -> Settings:
    op = step(settings, own)
    all_parts = bounds(op, settings["chip"])
    parts = {part.name: part for part in op.parts}
    spent = [bounds(parts[name], settings["chip"]).lower if name in parts else 0 for name in ROWS]
    tokens = settings["B"] * (1 if settings["phase"] == "decode" else settings["S"])
    links = [time for roof, time in all_parts.times.items() if roof not in ("compute", "HBM")]
    return {
        "all_flops": [parts[name].flops if name in parts else 0 for name in ROWS],
        "all_bytes": [parts[name].bytes if name in parts else 0 for name in ROWS],
        "spent": spent,
        "whole": sum(spent),
        "flops": op.flops,
        "bytes": op.bytes,
        "sent": sum(op.sent.values()),
        "held": op.held,
        "memory": all_parts.capacity,
        "t_math": all_parts.times["compute"],
        "t_comms": all_parts.times["HBM"],
        "t_link": sum(links),
        "lower": all_parts.lower,
        "upper": all_parts.upper,
        "rate": tokens / all_parts.lower,
        "compute": op.compute.name,
    }


@pytest.mark.parametrize("name", MODELS)
@series(10, 70)
def test_numbers_in_the_model_figure_match_rooflib(name: str, count: int) -> None:
    possible = 0
    for settings in drawn_settings(name, count):
        values = FIGURE.values(**settings)
        problem = refusal(settings)
        assert bool(values["problem"]) is bool(problem), (settings, problem)
        if problem:
            assert "{" not in FIGURE.texts(**settings)["says"]
            continue
        possible += 1
        for key, expected in oracle(settings).items():
            expected = expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-9)
            assert values[key] == expected, (key, settings)
        fits = values["held"] <= values["memory"]
        assert ("not fit" in FIGURE.texts(**settings)["says"]) is not fits
    assert possible >= count / 10


PROBLEMS = [
    ({"model": "Phi-4", "chips": 4}, "Phi-4 can be split over 1, 2"),
    ({"model": "Phi-4", "experts": "whole on a chip"}, "Phi-4 has no routed experts: choose"),
    (
        {"model": "Mixtral 8x7B", "experts": "whole on a chip", "chips": 8, "replicas": 2},
        "Mixtral 8x7B can be spread over 1, 2, 4, 8",
    ),
    ({"B": 12, "replicas": 8}, "8 replicas cannot share 12 sequences equally: choose a multiple"),
    (
        {"chip": "RTX 4090", "chips": 2},
        "RTX 4090 has no link to other chips in the catalog: choose 1 as",
    ),
    (
        {"chip": "RTX 4090", "replicas": 2, "experts": "whole on a chip"},
        "RTX 4090 has no link to other chips in the catalog: choose experts that are split",
    ),
    ({"w": "int8", "x": "fp8"}, "Activations in fp8 and these weights have no common type"),
    ({"model": "DeepSeek-V3", "x": "fp8"}, "Activations in fp8 and these weights have no common"),
    (
        {"w": "fp8", "x": "fp8", "chip": "A100 80GB SXM"},
        "A100 80GB SXM has no peak in fp8 here: choose activations and weights that are computed in"
        " bf16 or int8.",
    ),
    (
        {"w": "int4", "x": "int8", "chip": OWN},
        "my own chip has no peak in int8 here: choose activations and weights that are computed in"
        " bf16.",
    ),
]


@pytest.mark.parametrize(("settings", "words"), PROBLEMS)
def test_an_impossible_setting_says_what_to_choose_instead(settings: Settings, words: str) -> None:
    assert refusal(FIGURE.settings | settings)
    texts = FIGURE.texts(**settings)
    assert words in texts["says"]
    assert texts["lower"] == "–"
    assert not any(texts[line] for line in FIGURE.lines)


@pytest.mark.parametrize(
    ("w", "x", "compute"),
    [
        ("fp8", "bf16", "bf16"), ("fp8", "fp8", "fp8"), ("fp4", "fp8", "fp8"),
        ("int8", "bf16", "bf16"), ("int8", "int8", "int8"), ("int4", "int8", "int8"),
        ("bf16", "fp8", "bf16"),
    ],
)  # fmt: skip
def test_the_roof_is_that_of_the_type_in_which_products_are_computed(
    w: str, x: str, compute: str
) -> None:
    values = FIGURE.values(w=w, x=x)
    assert values["compute"] == compute
    assert values["t_math"] == values["flops"] / rl.chip("H100 SXM").peaks[compute]
    assert f"H100 SXM, {compute}" in FIGURE.svg(w=w, x=x)
    assert FIGURE.texts(w=w, x=x)["flops"].endswith("OP") is True
    assert FIGURE.texts(w=w, x=x)["flops"].endswith("FLOP") is (compute != "int8")


def test_each_chunk_of_a_prompt_loads_the_weights_again() -> None:
    at_once = FIGURE.values(phase="prefill", S=8192, B=1)
    chunked = FIGURE.values(phase="prefill", S=8192, B=1, read="1,024 tokens")
    mlps, experts = ROWS.index("projections"), ROWS.index("experts")
    assert chunked["all_bytes"][experts] > 7 * at_once["all_bytes"][experts]
    assert chunked["all_bytes"][mlps] > at_once["all_bytes"][mlps]
    says = FIGURE.texts(phase="prefill", S=8192, B=1, read="1,024 tokens")["says"]
    assert "read in 8 chunks" in says
    assert "chunks" not in FIGURE.texts(read="1,024 tokens")["says"]


def helpful(settings: Settings) -> list[tuple[str, float, rl.Bounds]]:
    """Return the changes that `Serving` lists, with their gain and bounds, best first."""
    w = None if settings["w"] == "as stored" else settings["w"]
    chips, compute = int(settings["chips"]), step(settings).compute
    served = Serving(
        settings["model"],
        chip_of(settings["chip"]),
        B=int(settings["B"]),
        S=int(settings["S"]),
        chips=chips,
        w=w,
        replicas=int(settings["replicas"]),
        expert_parallel=whole(settings),
        kv=settings["kv"],
        x=settings["x"],
        compute=compute,
    )
    found = []
    for name, other in served.changes:
        changed = {
            "w": settings["w"] if other.w is None else other.w,
            "kv": other.kv,
            "B": other.B,
            "chips": other.chips,
            "experts": "whole on a chip" if other.expert_parallel else "split over chips",
            "compute": compute,
        }
        op = step(settings, **changed)
        after = rl.bound(op, other.chip, other.chip.links[0] if op.sent else None)
        before = bounds(step(settings), settings["chip"]).lower
        found.append((name, other.B / served.B * before / after.lower, after))
    return sorted(found, key=lambda each: -each[1])


@pytest.mark.parametrize("name", MODELS)
@series(8, 50)
def test_suggested_changes_match_those_of_serving(name: str, count: int) -> None:
    """Check decode and prefill, on chips of the catalog and on the reader's own."""
    possible = 0
    for settings in drawn_settings(name, count):
        if refusal(settings):
            continue
        possible += 1
        texts = FIGURE.texts(**settings)
        lines = [texts[line] for line in FIGURE.lines if texts[line]]
        expected = helpful(settings)
        assert len(lines) == len(expected), settings
        gains = {}
        for name_, gain, after in expected:
            (line,) = [one for one in lines if one.startswith(f"{name_}: ")]
            assert f" for the step, and {_roof(after)} binds." in line, (line, settings)
            assert ("not fit" in line) is not after.fits, settings
            near = {rl.text(after.lower * (1 + e), "s") for e in (-1e-9, 0, 1e-9)}
            assert any(f"at least {time} for" in line for time in near), (line, settings)
            near = {rl.text(gain * (1 + e)) for e in (-1e-9, 0, 1e-9)}
            assert any(f"×\N{NO-BREAK SPACE}{shown}, " in line for shown in near), (line, settings)
            gains[line] = gain
        order = [gains[line] for line in lines]
        assert all(a >= b * (1 - 1e-9) for a, b in itertools.pairwise(order)), settings
    assert possible >= count / 10


def _roof(after: rl.Bounds) -> str:
    return after.binding if after.binding in ("HBM", "compute") else "the link"


def test_suggested_changes_are_in_the_order_of_serving() -> None:
    """Use settings whose changes lead to different bounds: the order is unique."""
    figure = figures.model()
    lines = [figure.texts()[line] for line in figure.lines]
    served = Serving("Qwen3 30B-A3B", "H100 SXM", B=16, S=8192)
    assert [line.split(": ")[0] for line in lines if line] == [name for name, _ in served.changes]


def shapes(name: str, **settings: Any) -> list[dict[str, str]]:
    return live_pages.drawn(FIGURE.svg(width=650, **settings), name)


def test_dots_lie_on_the_roof_with_areas_proportional_to_their_times() -> None:
    settings = {"model": "DeepSeek-V3", "chips": 8, "B": 64}
    values = FIGURE.values(**settings)
    part = {name: values["spent"][i] / values["whole"] for i, name in enumerate(ROWS)}
    flops = dict(zip(ROWS, values["all_flops"], strict=True))
    names = [one["text"] for one in shapes("names", **settings)]
    named = [name for name in names if name in ROWS]
    assert named == [name for name in ROWS if flops[name] > 0]
    dots = [one for one in shapes("dots", **settings) if "r" in one]
    radii = {name: float(dot["r"]) for name, dot in zip(named, dots, strict=True)}
    largest = max(radii, key=lambda name: radii[name])
    for name, dot in zip(named, dots, strict=True):
        expected = max(2.5, radii[largest] * math.sqrt(part[name] / part[largest]))
        assert radii[name] == pytest.approx(expected, abs=0.02)
        intensity = flops[name] / dict(zip(ROWS, values["all_bytes"], strict=True))[name]
        up = math.log10(rl.attainable(intensity, "H100 SXM") / 3e10) / math.log10(1e16 / 3e10)
        assert float(dot["cy"]) == pytest.approx(288 - 260 * up, abs=0.01)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


@pytest.mark.parametrize("width", [320, 650])
@pytest.mark.parametrize("name", MODELS)
@series(3, 15)
def test_labels_of_dots_never_overlap_and_stay_inside(name: str, width: int, count: int) -> None:
    for settings in drawn_settings(name, count):
        if FIGURE.values(**settings)["problem"]:
            continue
        picture = FIGURE.svg(width=width, **settings)
        right = width - 12 if width < 560 else 0.56 * width
        feet = []
        for one in live_pages.drawn(picture, "names"):
            if one["text"]:
                x, wide = float(one["x"]), 6.8 * len(one["text"])
                left = x - wide if one["text-anchor"] == "end" else x
                assert left >= 0, (one, settings)
                assert left + wide <= right + 10, (one, settings)
                feet.append(float(one["y"]))
        assert all(b - a >= 14 for a, b in itertools.pairwise(sorted(feet)))
        assert all(28 <= foot <= (252 if width < 560 else 330) - 42 for foot in feet)


def test_bar_lengths_are_proportional_to_the_times() -> None:
    settings = {"model": "Mixtral 8x7B", "chips": 4}
    values = FIGURE.values(**settings)
    bars = [float(one["width"]) for one in shapes("bars", **settings) if "width" in one]
    spent = [time for time in values["spent"] if time > 0]
    longest = max(bars)
    assert bars == pytest.approx([longest * t / max(spent) for t in spent], abs=0.01)


def test_the_data_of_a_model_for_the_browser_are_plain() -> None:
    """The browser computes with a model from this data alone."""

    def plain(data: Any) -> bool:
        if isinstance(data, dict):
            return all(isinstance(key, str) and plain(inner) for key, inner in data.items())
        if isinstance(data, list):
            return all(map(plain, data))
        return isinstance(data, (int, float, str))

    for model in models():
        assert plain(row(model)), model.name


def test_suggested_changes_follow_the_controls_in_a_page(context: BrowserContext) -> None:
    figure = figures.model()
    page = live_pages.opened(context, figure)
    shown = settled(page, "model")

    def lines() -> list[str]:
        return [text for text in shown.locator(".live-lines > li").all_text_contents() if text]

    def expected(**settings: Any) -> list[str]:
        texts = figure.texts(**settings)
        return [texts[line] for line in figure.lines if texts[line]]

    assert lines() == expected()
    assert page.locator(".live-lines > li:visible").count() == len(expected())
    chosen: Settings = {}
    for name, value in {
        "model": "DeepSeek-V3", "chips": 8, "phase": "prefill", "B": 256, "chip": "H200 SXM",
        "w": "int4", "kv": "fp8",
    }.items():  # fmt: skip
        chosen[name] = value
        control = next(c for c in figure.controls if c.name == name)
        field = shown.locator(f'[name="{name}"]')
        if name in ("chips", "B"):
            field.fill(str(control.options.index(value)))
        else:
            field.select_option(value)
        assert lines() == expected(**chosen), chosen
    settled(page, "model")
    assert shown.locator(".live-says").text_content() == figure.texts(**chosen)["says"]
    shown.locator('[name="model"]').select_option("Phi-4")
    settled(page, "model")
    assert lines() == []
    assert "Phi-4 can be split over 1, 2" in str(shown.locator(".live-says").text_content())


def test_the_widget_shows_the_suggested_changes() -> None:
    figure: Figure = figures.model()
    shown = str(figure.widget.children[-1].value)
    assert figure.ranking in shown
    for line in figure.lines:
        assert figure.texts()[line] in shown


OWN_CONFIGS = {
    "dense": LLAMA,
    "experts": QWEN,
    "latent": DEEPSEEK,
    "windows": GEMMA,
    "fp16": LLAMA | {"dtype": "float16"},
    "4 bits": quantized(quant_method="awq", bits=4, group_size=128),
}


@pytest.mark.parametrize("config", OWN_CONFIGS.values(), ids=OWN_CONFIGS)
def test_numbers_of_the_readers_model_match_rooflib(config: dict[str, Any], tmp_path: Path) -> None:
    figure = figures.model(write(tmp_path, config))
    mine = replace(rl.model_from_config(config), w="bf16")
    (choice,) = [c for c in figure.controls if c.name == "model"]
    assert choice.start == choice.options[0] == mine.name
    assert set(MODELS) < set(choice.options)
    draw = random.Random(str(config))
    for _ in range(15):
        settings = drawn_setting(draw, mine.name)
        problem = refusal(settings, mine)
        values = figure.values(**settings)
        assert bool(values["problem"]) is bool(problem)
        for key, expected in ({} if problem else oracle(settings, mine)).items():
            expected = expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-9)
            assert values[key] == expected, (key, settings)


@pytest.mark.parametrize("config", BROKEN.values(), ids=BROKEN)
def test_a_broken_config_raises_the_same_error_as_in_rooflib(
    config: tuple[Any, str], tmp_path: Path
) -> None:
    path = write(tmp_path, config[0])
    with pytest.raises((ValueError, TypeError)) as expected:
        rl.model_from_config(path)
    with pytest.raises(expected.type) as found:
        figures.model(path)
    assert str(found.value) == str(expected.value)


def test_a_model_in_fp32_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^w of the model must be bf16 or fp16; got fp32$"):
        figures.model(LLAMA | {"dtype": "float32"})


def test_braces_in_the_name_of_a_model_are_replaced_in_sentences() -> None:
    figure = figures.model(LLAMA | {"_name_or_path": "mine {B} {x}"})
    assert "mine (B) (x) on 1" in figure.texts()["says"]


def test_the_readers_model_replaces_a_catalog_model_of_the_same_name() -> None:
    figure = figures.model(LLAMA | {"_name_or_path": "Llama 3 8B"})
    options = figure.controls[0].options
    assert options[0] == "Llama 3 8B"
    assert len(options) == len(MODELS)
    assert figure.values()["m"]["D"] == 64
