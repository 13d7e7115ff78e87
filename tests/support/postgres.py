"""A private PostgreSQL server for tests, reachable only through a Unix socket."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")
MISSING = "PostgreSQL, which the gradebook's tests need, is missing: sudo apt install postgresql"
OWNER = "postgres"


def binaries() -> Path | None:
    """Return the folder with the programs of the newest installed PostgreSQL."""
    found = [path.parent for path in DEBIAN.glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: float(path.parent.name))
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


@contextlib.contextmanager
def server(binaries: Path) -> Iterator[Path]:
    """Run a server with an empty database "gradebook"; yield its socket's folder."""
    # Don't use pytest's temporary folder: other users can't enter it, and its path is too long for
    # a Unix socket.
    folder = Path(tempfile.mkdtemp(prefix="gradebook-"))
    drop: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, OWNER, OWNER)
        drop = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"]

    def run(tool: str, *words: str) -> None:
        command = [*drop, str(binaries / tool), *words]
        # Don't use a pipe: the server would inherit it and keep it open.
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
