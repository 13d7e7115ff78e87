"""Folders for JupyterLab's own files: in my-work/, so that HOME stays untouched."""

import json
from collections.abc import Mapping
from pathlib import Path

from book_extension.languages import ORIGINAL, Language

from commands.copies import write_whole

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
# What nbgrader shows to instructors; Validate stays.
INSTRUCTORS = ("assignment-list", "course-list", "create-assignment", "formgrader", "menu")


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


def write_settings(folder: Path, language: Language) -> None:
    """Set what JupyterLab shows, and the language of menus and of kernels' tables and plots.

    The settings are defaults, which the user's own override.
    """
    defaults: dict[str, object] = {"@jupyterlab/apputils-extension:notification": QUIET}
    if language is not ORIGINAL:
        defaults["@jupyterlab/translation-extension:plugin"] = {"locale": language.code}
    hidden = {f"@jupyter/nbgrader:{name}": True for name in INSTRUCTORS}
    files = {
        "config/labconfig/default_setting_overrides.json": defaults,
        "config/labconfig/page_config.json": {"disabledExtensions": hidden},
        "ipython/profile_default/ipython_kernel_config.json": {
            "IPKernelApp": {"extensions": ["roofkit.kernel_language"]}
        },
    }
    for name, content in files.items():
        write_whole(folder / name, json.dumps(content))
