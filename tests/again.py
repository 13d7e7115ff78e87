"""Run the files of a few failed tests again: ``python tests/again.py STATUS``.

`make test` runs more tests at a time than there are cores, and a browser's test may fail only
because it waited too long for its turn. Its file then passes alone, and is named here: fix it,
since the cause can be ours. STATUS is that of the first run, after which pytest has kept what
failed.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
TESTS_FAILED = 1  # pytest's status if all tests ran and some failed
MAX_FILES = 3  # with more failing files, assume a common cause and run none again


def main() -> int:
    status = int(sys.argv[1])
    if status != TESTS_FAILED:
        return status
    failed = list(json.loads(FAILED.read_text(encoding="utf-8")))
    files = sorted({name.split("::")[0] for name in failed})
    if len(files) > MAX_FILES:
        return status
    print("running again, alone:", *files, flush=True)
    again = subprocess.call([sys.executable, "-m", "pytest", *files], cwd=ROOT)
    if again == 0:
        print("failed once, and passed alone: fix", *failed)
    return again


if __name__ == "__main__":
    sys.exit(main())
