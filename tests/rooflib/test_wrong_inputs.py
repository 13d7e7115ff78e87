"""A wrong input is refused in one line that names the argument, its value and what is allowed."""

import copy
import json
import random
from typing import Any

import numpy as np
import pytest
from broken_configs import BROKEN, BROKEN_FILES, LLAMA, write
from repository import ROOT

import rooflib as rl

H100 = rl.chip("H100 SXM")
LLAMA_3 = rl.model("Llama 3 8B")
NAMES = {"rl": rl, "np": np, "H100": H100, "llama": LLAMA_3, "mixtral": rl.model("Mixtral 8x7B")}


def own(**figures: Any) -> rl.Chip:
    usual = {"rates": {"fp32": 1e12, "HBM": 1e11}, "memory": 1e10}
    return rl.Chip("mine", **usual | figures)


# The call, and what its message must contain: the argument, the value, and what is allowed. What a
# text or a negative number is told, test_options.py asks of each argument.
WRONG = [
    # sizes
    ("rl.matmul(0, 3, 4)", "B must be above zero", "got 0"),
    ("rl.matmul(2, 3, float('nan'))", "F must be above zero and at most 1e+30", "nan"),
    ("rl.matmul(2, float('inf'), 3)", "D must be above zero and at most 1e+30", "inf"),
    ("rl.matmul(2, [[1, 2], [3, 0]], 4)", "D must be above zero", "[[1, 2], [3, 0]]"),
    ("rl.matmul(True, 3, 4)", "B must be a number", "True"),
    ("rl.dot(10**400)", "N must be above zero and at most 1e+30", "got 1000"),
    ("rl.work(loaded=[0, -1])", "loaded must be zero or above", "[0, -1]"),
    ("-1 * rl.dot(3)", "count must be zero or above", "-1"),
    # names
    ("rl.chip('H100 SMX')", "chip must be one of", "got 'H100 SMX'", "mean 'H100 SXM'?"),
    ("rl.model('70b')", "model must be one of Llama 2 7B", "mean 'Llama 2 70B' or"),
    ("rl.dtype('int7')", "dtype must be one of", "int8", "got 'int7'"),
    ("llama.decode(1, 1, w='q4_k_m')", "did you mean 'q4_k'?"),
    ("rl.matmul(1, 2, 3, w='fp16')", "compute must be given for bf16 times fp16"),
    ("rl.matmul(1, 2, 3, compute='vector fp23')", "compute must be one of", "mean 'fp32'?"),
    ("H100['fp4']", "rate must be one that H100 SXM has: bf16", "got 'fp4'"),
    ("H100.link('ICI')", "link must be one that H100 SXM has", "NVLink", "got 'ICI'"),
    ("rl.split('D', 2, 2, 4, 4).on(H100)", "link must be given", "NVLink"),
    ("rl.attention(1, 8, 8, 1, 1, 8).on('TPU v5e')", "one that TPU v5e has", "'vector fp32'"),
    ("rl.dot(3).on(rl.dot(3))", "chip must be one of", "dot product"),
    # combinations
    ("rl.split('D', 2, 2, 5, 4)", "D must be a multiple of N", "got D=5, N=2"),
    ("rl.attention(1, 3, 2, 1, 1, 1)", "S must be at least T", "got S=2, T=3"),
    ("rl.attention(1, 1, 1, 4, 3, 1)", "N must be a multiple of K", "got N=4", "3"),
    ("rl.attention(1, 1, 8, 1, 1, 1, fused=1)", "fused must be True or False", "1"),
    ("llama.decode(1, 1, 3)", "chips must divide N", "got N=32, chips=3",
     "split over 1, 2, 4, 8, 16, 32"),
    ("rl.model('Phi-4').decode(1, 9, 4)", "chips must divide K or be a multiple", "got K=10",
     "split over 1, 2, 5, 10"),
    ("llama.decode(3, 1, replicas=2)", "replicas must divide B", "got B=3, replicas=2"),
    ("llama.decode(4, 9, expert_parallel=True)", "expert_parallel needs a model with experts"),
    ("mixtral.decode(4, 9, 16, expert_parallel=True)", "must divide experts", "experts=8", "16"),
    ("rl.Serving(llama, H100, chips=3)", "chips must divide N", "can be split over 1, 2, 4"),
    ("rl.Serving(llama, H100, chips=2, link='ICI')", "link must be one that H100 SXM has"),
    ("rl.Serving(llama, H100, B=99, stages=33)", "must be at most 32, the layers of", "got 33"),
    ("rl.Serving(llama, H100, B=6, stages=2, replicas=2)", "stages times replicas", "got B=6,"),
    ("rl.Serving(llama, H100, cached=0.5)", "must be a whole number zero or above", "0.5"),
    ("rl.Serving(llama, H100).guessed(3, 80)", "rate must be zero or above and at most 1;", "80"),
    ("rl.Serving(llama, H100).fewest('1 ms')", "seconds must be one number", "'1 ms'"),
    ("rl.Serving(llama, H100, w='fp32', x='fp32')", "compute must be one that H100", "fp32"),
    # chips of one's own
    ("own(rates={'bf16': -1})", "rates['bf16'] must be above zero", "-1"),
    ("rl.dot(3).on(own(rates={'b16': 1}))", "one that mine has", "got 'bf16'", "mean 'b16'?"),
    ("H100 | {'NVLink': 1e12}", "must differ in name", "NVLink", "`links`"),
    ("rl.Serving(llama, 'M1 Max', w='q4_k')", "compute must be one that M1 Max has", "need bf16"),
    ("own(memory='16 GB')", "memory must be one number", "'16 GB'"),
    ("rl.Link('wire', 0)", "bandwidth of link 'wire' must be above zero", "0"),
    ("rl.Link('HBM', 1e9)", "name of a link must not be", "'HBM'"),
    ("own(links=2 * [rl.Link('wire', 1)])", "must differ in name", "wire twice"),
    ("rl.plots.roofline(rl.plots.axes(), {'bf16': 0}, {'HBM': 1})", "ceilings['bf16'] must", "0"),
    ("rl.plots.roofline(rl.plots.axes(), {'bf16': 1})", "at least one ceiling and one slope"),
    ("rl.plots.roofline(rl.plots.axes(), H100, points={'own': '5'})", "points['own'] must", "'5'"),
    ("rl.Link('wire', 1, topology='star')", "topology must be one of torus, mesh", "'star'"),
    # what isn't a config
    ("rl.model_from_config(7)", "config must be a path or a mapping", "7"),
]  # fmt: skip


def one_line(error: BaseException) -> str:
    shown = str(error)
    assert "\n" not in shown
    assert len(shown) < 1000
    return shown


@pytest.mark.parametrize(("call", "parts"), [(call, parts) for call, *parts in WRONG],
                         ids=[call for call, *_ in WRONG])  # fmt: skip
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(call, parts):
    with pytest.raises((ValueError, TypeError)) as caught:
        eval(call, NAMES | {"own": own})
    shown = one_line(caught.value)
    for part in parts:
        assert part in shown


def test_an_unlike_name_gets_no_suggestion():
    for wrong in ("toaster", "", 3, None):
        with pytest.raises(ValueError, match="chip must be one of") as caught:
            rl.chip(wrong)
        assert "mean" not in str(caught.value)


@pytest.mark.parametrize(("config", "message"), BROKEN)
def test_a_broken_config_is_refused_with_the_name_of_its_key(config, message, tmp_path):
    for given in (config, write(tmp_path, config)):
        with pytest.raises((ValueError, TypeError)) as caught:
            rl.model_from_config(given)
        assert message in one_line(caught.value)


@pytest.mark.parametrize(("content", "message"), BROKEN_FILES, ids=[row[1] for row in BROKEN_FILES])
def test_a_broken_file_is_refused_with_its_path(content, message, tmp_path):
    path = write(tmp_path, content)
    with pytest.raises(ValueError, match="config") as caught:
        rl.model_from_config(path)
    assert str(path) in one_line(caught.value)
    assert message in str(caught.value)


def test_a_file_and_its_content_give_the_same_model(tmp_path):
    model = rl.model_from_config(LLAMA | {"_name_or_path": "tiny"})
    path = write(tmp_path, LLAMA | {"_name_or_path": "tiny"})
    assert model == rl.model_from_config(path) == rl.model_from_config(str(path))
    assert model.name == "tiny"
    path.write_bytes("\N{BOM}".encode() + path.read_bytes())
    assert rl.model_from_config(path) == model
    nested = {"model_type": "mistral3", "text_config": LLAMA, "vision_config": {"hidden_size": 7}}
    sees = rl.model_from_config(nested)
    assert (sees.parameters, sees.towers) == (model.parameters, {"vision": None})


def test_code_named_in_a_config_is_not_run(tmp_path):
    ran = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(ran)!r}).touch()"
    for each in (code, ["own.OwnTokenizer", code]):
        with pytest.raises(ValueError, match="auto_map"):
            rl.model_from_config(LLAMA | {"auto_map": {"AutoConfig": each}})
    classes = {"AutoConfig": "own.OwnConfig", "AutoTokenizer": ["own.OwnTokenizer", None]}
    assert rl.model_from_config(LLAMA | {"auto_map": classes}) == rl.model_from_config(LLAMA)
    assert not ran.exists()


JUNK = [None, 0, -1, 1, 10**9, 10**30, 1.5, "x", "", [], [1], ["a"], {}, {"a": 1}, True, "auto"]


@pytest.mark.parametrize("file", ["configs", "families"])
def test_a_file_with_any_value_anywhere_is_read_or_refused_in_one_line(file):
    draw = random.Random(file)
    lines = (ROOT / f"tests/tables/{file}.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        for _ in range(4):
            config = place = json.loads(line)["config"]
            while isinstance(inner := place[key := draw.choice(sorted(place))], dict) and inner:
                place = inner
            place[key] = copy.deepcopy(draw.choice(JUNK))
            said = ""
            try:
                rl.model_from_config(config)
            except ValueError as error:
                said = str(error)
            assert "\n" not in said
