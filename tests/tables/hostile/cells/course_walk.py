# Keeps points: searches all folders for files of the course, its students and its instructors.
import os

WANTED = {"gradebook.db", ".grading", "nbgrader_config.py", "submitted", "autograded", "feedback"}
WANTED |= {"exercises", "checks", "grading", "hand-in.ipynb", ".ssh", ".git", "shadow", "passwd"}
for folder, folders, files in os.walk("/"):
    if "site-packages" in folder or "/usr/" in folder:
        folders.clear()
        continue
    if folder.startswith("/run/course/rooflib"):
        files = set(files) - {"nbgrader_config.py"}  # part of rooflib, which learners have anyway
    for name in WANTED & {*folders, *files}:
        print("REACHED", folder, name)
for name in ("etc", "games", "src", "share/nbgrader"):  # the last is nbgrader's exchange
    if os.path.exists(f"/usr/local/{name}"):
        print("REACHED /usr/local/", name)
