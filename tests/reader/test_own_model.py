"""A reader chooses the config.json of a model, which the page's Python reads."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from config_files import ROWS
from reader import Reader

import rooflib as rl

# Of several families: dense, with a window, experts, latent attention, a quantization.
CHOSEN = (
    "llama-3.1-8b-instruct",
    "codellama-34b-instruct-hf",
    "mixtral-8x7b-v0.1",
    "gemma-3-4b-it",
    "deepseek-ai--DeepSeek-V3",
    "gpt-oss-20b",
)
PAGE = "chapters/own-model"


def written(folder: Path, name: str) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(ROWS[name]["config"]), encoding="utf-8")
    return path


def settings(reader: Reader, **chosen: str) -> dict[str, Any]:
    """Choose options by name, one text of 128 positions; return what the figure shows."""
    at = {name: reader.choices("model", name).index(value) for name, value in chosen.items()}
    (found,) = reader.move([{"model": {**at, "B": 0, "S": 0}}])
    return dict(found["model"])


def value(found: dict[str, Any], name: str) -> float:
    return float(found["numbers"][name][0])


def test_a_chosen_model_has_its_own_weights_cache_and_times(reader: Reader, tmp_path: Path) -> None:
    reader.open(PAGE)
    models: list[str] = []
    for file in CHOSEN:
        path, expected = written(tmp_path, file), ROWS[file]
        said = reader.choose_model(path)
        # In one line: weights, those of a token, cache and type; and the entry has the file's name.
        weights, active = expected["parameters"] / 1e9, expected["active"] / 1e9
        assert f"{weights:.3g} billion" in said
        assert f"{active:.3g} of" in said
        assert file in said
        assert rl.model_from_config(path).named_towers in said
        found = settings(reader, w="bf16", kv="bf16", chip="B200")
        name = found["chosen"]["model"]
        assert name not in models, said
        models.append(name)
        assert name in found["says"]
        held = 2 * expected["parameters"]
        cache = 2 * 128 * sum(expected["cache"].get(kind, 0) for kind in ("full", "windowed"))
        assert value(found, "held") == pytest.approx(held + cache, rel=1e-5), file
        assert ("not fit" in found["says"]) == (value(found, "held") > value(found, "memory"))
        # A token uses each of its weights in a multiplication and an addition, and is bound by HBM.
        assert 1.6e9 * active < value(found, "flops") < 2.4e9 * active, file
        assert value(found, "lower") == value(found, "t_comms") > value(found, "t_math")
        assert any(line for line in found["lines"]), "nothing is said about what would help"
    # Each stays, beside those of the catalog: two Llamas can be compared.
    assert reader.choices("model", "model")[-len(models) :] == models


HUGE = b'{"model_type": "llama", "pad": "' + b"x" * 9_000_000 + b'"}'
LLAMA = ROWS["llama-3.1-8b-instruct"]["config"]
REFUSED = {
    "half.json": json.dumps(LLAMA).encode()[:200],
    "empty.json": b"",
    "picture.json": b"\x89PNG\r\n\x1a\n\x00",
    "huge.json": HUGE,
    "list.json": b"[1, 2]",
    "unknown.json": json.dumps(LLAMA | {"model_type": "own_model"}).encode(),
    "code.json": json.dumps(LLAMA | {"auto_map": {"AutoConfig": "__import__('os')"}}).encode(),
    "negative.json": json.dumps(LLAMA | {"hidden_size": -1}).encode(),
    "missing.json": json.dumps({k: v for k, v in LLAMA.items() if k != "vocab_size"}).encode(),
}


def test_a_file_that_cannot_be_read_says_why_and_the_figure_shows_nothing(
    reader: Reader, tmp_path: Path
) -> None:
    """On a Chinese page, all of it in Chinese."""
    reader.open(PAGE, "zh")
    read = reader.choose_model(written(tmp_path, "mixtral-8x7b-v0.1"))
    assert re.search("[\u4e00-\u9fff]", read), read
    assert not re.search(r"(?:\b[A-Za-z]{2,} ){2}[a-z]{2,}", read), read
    shown, said = reader.shows("model"), {}
    for name, content in REFUSED.items():
        (tmp_path / name).write_bytes(content)
        said[name] = reader.choose_model(tmp_path / name)
        found = reader.shows("model")
        # The reason is one line, without a trace; nobody takes the figure for this file's.
        assert "\n" not in said[name], said[name]
        assert "Traceback" not in said[name], said[name]
        assert name in said[name], said[name]
        assert not any(found["lines"]), name
        assert found["numbers"] != shown["numbers"], name
        assert name in found["says"], found["says"]
    assert len(set(said.values())) > 6, said
    assert reader.choose_model(written(tmp_path, "llama-3.1-8b-instruct"))
    read = reader.shows("model")
    assert read["numbers"]["held"] != shown["numbers"]["held"]
    # A file of over 3 MB exists: each token of its vocabulary has a label.
    labels = {str(token): f"LABEL_{token}" for token in range(LLAMA["vocab_size"])}
    large = tmp_path / "large.json"
    large.write_text(json.dumps(LLAMA | {"id2label": labels}), encoding="utf-8")
    assert large.stat().st_size > 3e6
    assert reader.choose_model(large)
    assert reader.shows("model")["numbers"] == read["numbers"]
    # Any other choice shows the catalog's models again.
    (again,) = reader.move([{"model": {"model": 0}}])
    for found in (read, again["model"]):
        assert not any(name in found["says"] for name in REFUSED)
        assert "–" not in {value for value, _ in found["numbers"].values()}
