"""nbgrader's settings of this course, and of a course folder."""

import os
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

CONFIG = Path(__file__).with_name("nbgrader_config.py")
DATABASE = "COURSE_DB"


def settings(folder=None):
    """What nbgrader_config.py beside this file says, and then the course folder's own file."""
    config = _load(CONFIG)
    if folder is None:
        return config
    own = Path(folder) / "nbgrader_config.py"
    if own.exists():
        config.merge(_load(own))
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.db_url = database(folder)
    return config


def database(folder):
    """The gradebook's address: COURSE_DB, or a file in the course folder."""
    address = os.environ.get(DATABASE) or f"sqlite:///{Path(folder) / 'gradebook.db'}"
    # SQLAlchemy would look for an older driver under the plain name.
    return address.replace("postgresql://", "postgresql+psycopg://", 1)


def _load(file):
    return Config(PyFileConfigLoader(file.name, path=str(file.parent)).load_config())
