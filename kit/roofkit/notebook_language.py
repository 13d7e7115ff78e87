"""Language of a notebook, of its checks and of its grading."""

import re
from collections.abc import Mapping
from typing import Any

from roofkit.words import ORIGINAL

CODE = re.compile(r"[a-z]{2,3}(?:_[A-Z]{2})?")
# The language is also in the cell with the published cases, which survives lost metadata.
IN_CELL = re.compile(r'^""", "([a-z]{2,3}(?:_[A-Z]{2})?)"\)\s*$', re.MULTILINE)
CALL = "from roofkit.check import cases"


def language_of(notebook: Mapping[str, Any]) -> str:
    """Return the code of a notebook's language, such as "zh_CN"; "en" if it has none.

    It stands in the notebook's metadata and in its cell with the published cases. A submission may
    contain anything there.
    """
    about = notebook.get("metadata", {}).get("exercise")
    said = about.get("language") if isinstance(about, Mapping) else None
    if isinstance(said, str) and CODE.fullmatch(said):
        return said
    for cell in notebook.get("cells", ()):
        source = "".join(cell["source"])
        if source.lstrip().startswith(CALL) and (found := IN_CELL.search(source)):
            return found[1]
    return ORIGINAL
