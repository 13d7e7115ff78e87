"""The instructor's side: values out of a submitted notebook, a verdict outside of it.

A learner's function is asked for values inside the process of its notebook (`probe`, in a
`sandbox`), on inputs that it has not seen (`known`). They are compared here with what the
reference solution gives, and the verdict is written into the graded notebook (`run`).
`preprocessors` and `guard` hang this into plain nbgrader. For `make grade`, `intake` finds what was
handed in, `work` turns one submission into one graded notebook, `pool` spreads that over processes,
`ledger` writes what comes back, `course` leads, and `report` tells.
"""

import sys

# If this package is there, jsonschema compiles a grammar of web addresses with it, for a second in
# each process. Nothing in a notebook's schema asks for one.
sys.modules.setdefault("rfc3987_syntax", None)
