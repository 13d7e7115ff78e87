// Runs library.py in Pyodide. Usage: node library.cjs FROM TO, where both are folders.
const { join } = require("node:path");

const [source, target] = process.argv.slice(2);
const { loadPyodide } = require(join(source, "pyodide.js"));

(async () => {
  const lockFileURL = join(__dirname, "pyodide-lock.json");
  const python = await loadPyodide({ indexURL: source, lockFileURL });
  for (const [place, root] of [["/from", source], ["/to", target], ["/code", __dirname]]) {
    python.FS.mkdir(place);
    python.FS.mount(python.FS.filesystems.NODEFS, { root }, place);
  }
  python.runPython(`
import sys
from pathlib import Path
sys.path.insert(0, "/code")
import library
library.made(Path("/from"), Path("/to"))`);
})().catch((error) => {
  console.error(String(error.message ?? error));
  process.exit(1);
});
