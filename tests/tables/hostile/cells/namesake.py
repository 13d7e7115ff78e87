# Keeps points: writes modules and start-up files that would shadow real ones in a later process.
from pathlib import Path

for name in ("rooflib", "numpy", "json", "ipykernel", "usercustomize", "sitecustomize"):
    for folder in (".", "/tmp", "/home/learner/.local/lib/python3.11/site-packages"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.py").write_text("raise SystemExit('REACHED by a namesake')\n")
Path(".ipython/profile_default/startup").mkdir(parents=True, exist_ok=True)
Path(".ipython/profile_default/startup/0.py").write_text("print('REACHED at start-up')\n")
