# Keeps points: emits a warning and writes to stderr, as libraries do.
import sys
import warnings

warnings.warn("careful", stacklevel=1)
print("careful", file=sys.stderr)
