"""nbgrader's settings: those of this repository, and those of a course folder."""

import os
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

CONFIG = Path(__file__).parent / "nbgrader_setup" / "nbgrader_config.py"
DATABASE = "COURSE_DB"


def settings(folder: Path | None = None) -> Config:
    """The settings of nbgrader_config.py beside this file, and those of the course folder's own."""
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
    """The gradebook's address: COURSE_DB, or a file in the course folder."""
    address = os.environ.get(DATABASE) or f"sqlite:///{folder / 'gradebook.db'}"
    # SQLAlchemy takes the plain name for an older driver.
    return address.replace("postgresql://", "postgresql+psycopg://", 1)


def _load(file: Path) -> Config:
    loader = PyFileConfigLoader(file.name, path=str(file.parent))
    return Config(loader.load_config())
