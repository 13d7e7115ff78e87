"""One submitted notebook in, the same one graded out: run in a sandbox, asked, judged."""

import copy
from dataclasses import asdict

from grading import sandbox
from grading.execution.notebook import ENDED, TIME_LIMITS, run
from grading.execution.questions import Questions
from grading.judging.verdicts import judge_parts, write
from grading.release import exercises

STOPPED = {
    "memory": "The notebook took more memory than there is for one, and was stopped.",
    "time": "The notebook took more time than there is for one, and was stopped.",
}


def grade(nb, name, seed, limits=TIME_LIMITS, unsafe=None):
    """A copy of `nb` that has been run and carries points and sentences in its check cells.

    What was found is also in its metadata, under "rooflib": the parts; why the notebook could not
    be run to the end ("" if it was); and what the sandbox refused. A notebook whose process ended
    is run once more: it may not have been its own doing.
    """
    done, died = _grade(copy.deepcopy(nb), name, seed, limits, unsafe)
    if died:
        done, _ = _grade(copy.deepcopy(nb), name, seed, limits, unsafe)
    return done


def _grade(nb, name, seed, limits, unsafe):
    parts = exercises.load(name).parts
    with sandbox.open(unsafe=unsafe) as box, Questions(box) as questions:
        trouble = run(nb, box, questions.address, limits)
        questions.collect({part.key for part in parts})
        graded = judge_parts(name, questions, seed, limits, trouble)
    trouble = STOPPED.get(box.stopped, trouble)
    died = trouble == ENDED or any(part.cause == "died" for part in graded.values())
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, graded[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": trouble,
        "parts": [asdict(part) for part in graded.values()],
        "refused": list(box.refused),
    }
    return nb, died
