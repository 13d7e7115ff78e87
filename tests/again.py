"""Run the files of a few failed tests once more, alone: ``python tests/again.py STATUS``.

`make test` runs five programs on each two cores, and a browser's test may fail only because it
waited too long for its turn. Its file then passes alone, and is named here: mend it, since the
cause can be ours. STATUS is that of the first run, after which pytest has kept what failed.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
TESTS_FAILED = 1  # pytest's status if all tests ran and some failed
MOST = 3  # files: more failures have a common cause


def main() -> int:
    status = int(sys.argv[1])
    if status != TESTS_FAILED:
        return status
    failed = list(json.loads(FAILED.read_text(encoding="utf-8")))
    files = sorted({name.split("::")[0] for name in failed})
    if len(files) > MOST:
        return status
    print("running again, alone:", *files, flush=True)
    again = subprocess.call([sys.executable, "-m", "pytest", *files], cwd=ROOT)
    if again == 0:
        print("failed once, and passed alone: mend", *failed)
    return again


if __name__ == "__main__":
    sys.exit(main())
