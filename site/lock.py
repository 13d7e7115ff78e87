"""Make requirements.txt from requirements.in, for every platform and Python that the course has.

``python site/lock.py [--upgrade]``. The resolver is used here alone, so it gets an environment of
its own, for as long as this runs.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = [
    *("--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--no-header", "--no-annotate"),
]


def main(options: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        binaries = Path(folder) / "bin"
        subprocess.run([binaries / "python", "-m", "pip", "install", "-qq", "uv"], check=True)
        compile_lock = [str(binaries / "uv"), "pip", "compile", "--quiet", *OPTIONS, *options]
        files = ["requirements.in", "--output-file", "requirements.txt"]
        subprocess.run([*compile_lock, *files], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
