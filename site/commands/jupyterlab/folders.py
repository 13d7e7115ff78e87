"""Folders for JupyterLab's own files: in my-work/, so that HOME stays untouched."""

import json
from collections.abc import Mapping
from pathlib import Path

from book_extension.languages import ORIGINAL, Language

from commands.jupyterlab.copies import write_whole

VARIABLES = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
}
QUIET = {"fetchNews": "false", "checkForUpdates": False}


def variables(folder: Path, environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return variables that move the folders of Jupyter's tools below `folder`.

    Variables that the user's environment already sets stay. So does the settings folder of the
    user's JupyterLab, if there is one: its theme and keyboard shortcuts apply here, too.
    """
    found = {variable: str(folder / name) for variable, name in VARIABLES.items()}
    config = Path(environment.get("JUPYTER_CONFIG_DIR", home / ".jupyter"))
    settings = config / "lab" / "user-settings"
    if settings.is_dir():
        found["JUPYTERLAB_SETTINGS_DIR"] = str(settings)
    return found | {name: environment[name] for name in VARIABLES if environment.get(name)}


def translate_kernels(ipython: Path) -> None:
    """Have kernels show tables and plots in the language that `make lab` passes on to them."""
    settings = {"IPKernelApp": {"extensions": ["roofkit.kernel_language"]}}
    file = ipython / "profile_default" / "ipython_kernel_config.json"
    write_whole(file, json.dumps(settings))


def set_defaults(config: Path, language: Language = ORIGINAL) -> None:
    """Turn off Jupyter's news and update checks; set the language of its menus.

    These are defaults, which the user's own settings override.
    """
    defaults: dict[str, object] = {"@jupyterlab/apputils-extension:notification": QUIET}
    if language is not ORIGINAL:
        defaults["@jupyterlab/translation-extension:plugin"] = {"locale": language.code}
    write_whole(config / "labconfig" / "default_setting_overrides.json", json.dumps(defaults))
