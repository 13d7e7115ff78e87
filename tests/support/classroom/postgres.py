"""A PostgreSQL server of the tests' own, which nothing but this machine's users can reach."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")
MISSING = "PostgreSQL is missing, with which the gradebook is tested: sudo apt install postgresql"
OWNER = "postgres"


def binaries() -> Path | None:
    """The folder of the newest server that is installed."""
    found = [path.parent for path in DEBIAN.glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: float(path.parent.name))
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


@contextlib.contextmanager
def server(binaries: Path) -> Iterator[Path]:
    """The folder with the socket of a new server with an empty database "gradebook"."""
    # Not pytest's folder, into which no other user may look; and a socket's path has a short limit.
    folder = Path(tempfile.mkdtemp(prefix="gradebook-"))
    mine: list[str] = []
    if os.geteuid() == 0:  # as whom the server refuses to run
        shutil.chown(folder, OWNER, OWNER)
        mine = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"]

    def run(tool: str, *words: str) -> None:
        command = [*mine, str(binaries / tool), *words]
        # To a file, as the server would hold on to a pipe.
        with (folder / "said").open("w+") as said:
            done = subprocess.run(command, cwd=folder, stdout=said, stderr=said, check=False)
            said.seek(0)
            assert done.returncode == 0, f"{tool}: {said.read()}"

    data = str(folder / "data")
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    try:
        run("initdb", "-D", data, "-U", OWNER, "--auth=trust", "--no-sync")
        run("pg_ctl", "start", "-w", "-D", data, "-o", options)
        try:
            run("createdb", "-h", str(folder), "-U", OWNER, "gradebook")
            yield folder
        finally:
            run("pg_ctl", "stop", "-w", "-m", "fast", "-D", data)
    finally:
        shutil.rmtree(folder)
