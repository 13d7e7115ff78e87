"""The formulas with which figures compute a model's step give what rooflib gives.

Others are compared where the figures show them: test_figures.py.
"""

import contextlib
import random
from typing import Any

import pytest
from config_files import ROWS as FILES
from figure_engine import called

import rooflib as rl
from roofkit.figures.model_rows import in_bf16, row
from rooflib.llm.steps import ROWS

STEP = "((...given) => JSON.stringify(LIB.formulas.step(...given)))"
CONFIGS = [row["config"] for row in FILES.values()]


@pytest.mark.parametrize("index", range(len(CONFIGS)))
def test_the_formulas_of_a_step_give_what_rooflib_gives_for_any_kind_of_layer(index: int) -> None:
    model, draw = in_bf16(rl.model_from_config(CONFIGS[index])), random.Random(index)
    shapes = row(model)
    for _ in range(5):
        B, S = draw.choice((1, 4, 16)), draw.choice((128, 1000, 30_000))
        chips, chunk = draw.choice((1, 1, 2, 4)), draw.choice((S, 100))
        adds = draw.random() < 0.5  # whether the links' switch adds
        options: Any = {"chips": chips, "x": "bf16", "kv": "bf16"}
        with contextlib.suppress(ValueError):  # these chips can't split the model
            steps = (model.decode(B, S, **options), model.prefill(B, S, chunk=chunk, **options))
            for prefill, step in enumerate(steps):
                setting = {"B": B, "S": S, "chips": chips, "replicas": 1, "prefill": bool(prefill)}
                setting |= {"chunk": chunk, "whole": False, "kv": 2, "x": 2}
                setting |= {"adds": adds, "w": shapes["stored"][str(chips)]}
                found = called(STEP, shapes, setting)
                parts = {part.name: part for part in step.parts}
                for name in ("flops", "bytes"):
                    each = [float(getattr(parts.get(kind), name, 0)) for kind in ROWS]
                    assert found["rows"][name] == pytest.approx(each, rel=1e-9)
                    assert found[name] == pytest.approx(float(getattr(step, name)), rel=1e-9)
                assert found["held"] == pytest.approx(float(step.held), rel=1e-9)
                link = rl.Link("wire", 1.0, topology="switch", reduces=adds)
                sent = step.on("H100 SXM", link).times.get("wire", 0)
                assert found["sent"] == pytest.approx(float(sent), rel=1e-9)
