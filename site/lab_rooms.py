"""Where JupyterLab keeps its files while somebody works on the course: in my-work, not in HOME."""

import json
from collections.abc import Mapping
from pathlib import Path

from lab_copies import write_whole

ROOMS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
}
QUIET = {"fetchNews": "false", "checkForUpdates": False}


def rooms(folder: Path, environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment variables that name these places.

    What the user's environment already names stays. So do the settings of a JupyterLab that the
    user has: theme and keyboard shortcuts are as in all other work, and are changed there.
    """
    found = {name: str(folder / room) for name, room in ROOMS.items()}
    config = Path(environment.get("JUPYTER_CONFIG_DIR", home / ".jupyter"))
    settings = config / "lab" / "user-settings"
    if settings.is_dir():
        found["JUPYTERLAB_SETTINGS_DIR"] = str(settings)
    return found | {name: environment[name] for name in ROOMS if environment.get(name)}


def make_quiet(config: Path) -> None:
    """Ask nobody about news of Jupyter, and don't look for newer versions.

    A default, which the user's own settings overrule.
    """
    defaults = {"@jupyterlab/apputils-extension:notification": QUIET}
    write_whole(config / "labconfig" / "default_setting_overrides.json", json.dumps(defaults))
