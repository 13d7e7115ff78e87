"""Loads nbgrader's settings from this repository and from a course folder."""

import os
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

CONFIG = Path(__file__).parent / "nbgrader_setup" / "nbgrader_config.py"
DATABASE = "COURSE_DB"


def settings(folder: Path | None = None) -> Config:
    """Return the repository's settings, merged with those of a course folder."""
    config = _load(CONFIG)
    if folder is None:
        return config
    own = folder / "nbgrader_config.py"
    if own.exists():
        config.merge(_load(own))
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.db_url = database(folder)
    return config


def database(folder: Path) -> str:
    """Return the gradebook's URL: COURSE_DB, or a file in the course folder."""
    address = os.environ.get(DATABASE) or f"sqlite:///{folder / 'gradebook.db'}"
    # Name the driver: SQLAlchemy would load psycopg2 by default.
    return address.replace("postgresql://", "postgresql+psycopg://", 1)


def _load(file: Path) -> Config:
    loader = PyFileConfigLoader(file.name, path=str(file.parent))
    return Config(loader.load_config())
