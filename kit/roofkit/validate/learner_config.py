"""nbgrader's configuration for learners: installs roofkit's validator."""

from roofkit import validate

validate.install()
