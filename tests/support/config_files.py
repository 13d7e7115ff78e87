"""Config files as people have them, one a line of a table, with counts of transformers 5.24.0."""

import json
from typing import Any

from repository import ROOT

LINES = (ROOT / "tests/tables/configs.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in map(json.loads, LINES)}
