"""What the page says to be protected, and not: each sentence has tests that hold it."""

import ast
import functools
import re

import pytest
from repository import ROOT

PAGE = ROOT / "chapters" / "instructors.md"
KERNEL, VALUES = "grading/test_grading_kernel.py", "grading/test_grading_values.py"
HOSTILE, BOX = "grading/test_hostile.py", "sandbox/test_box_state.py"
BOXES, COURSE = "sandbox/test_boxes.py", "grading/test_grading_course.py"
FEEDBACK, LEAKS = "grading/test_feedback.py", "exercises/test_leaks.py"
NEIGHBORS, SECOND_RUN = "sandbox/test_neighbors.py", "grading/test_second_run.py"
NEIGHBOR_TESTS = [
    "test_no_file_tells_what_a_neighbor_does",
    "test_no_call_tells_what_a_neighbor_does",
]
SECOND_RUN_TESTS = ["test_a_second_run_is_told_other_inputs_and_what_it_prints_is_not_shown"]
ALIKE, SOLUTION = "grading/test_alike.py", "site/test_solution.py"

# A sentence of the page → where it is held: file, tests.
HELD = {
    "Points.": {HOSTILE: ["test_a_cheat_earns_nothing"]},
    "Answers learned by heart, changed checks, a replaced display, swallowed assertions or a "
    "shadow module beside the notebook don't earn any: values are asked for inputs that the "
    "notebook has not seen, and judged elsewhere.": {
        HOSTILE: ["test_the_published_answers_by_heart_earn_nothing", "test_a_cheat_earns_nothing"],
        KERNEL: [
            "test_a_cheat_changes_nothing_about_the_points",
            "test_modules_beside_the_notebook_are_not_there",
        ],
        VALUES: [
            "test_a_wrong_function_gets_nothing_and_the_others_do_not_suffer",
            "test_what_was_asked_is_unknown_to_later_cells",
        ],
        "grading/test_limits.py": ["test_it_is_computed_in_a_copy_that_is_gone_afterwards"],
    },
    "The solutions and the hidden inputs.": {HOSTILE: ["test_nothing_hidden_is_given_out"]},
    "They are in no release, no graded notebook, no feedback page and not on this site, unless you "
    "build it with `make book SOLUTIONS=1`.": {
        COURSE: ["test_no_solution_is_given_out", "test_no_hidden_case_is_given_out"],
        HOSTILE: ["test_nothing_hidden_is_given_out"],
        LEAKS: [
            "test_the_site_and_what_it_hands_out_hold_no_solution",
            "test_the_release_holds_no_solution",
            "test_an_instructor_may_have_the_solutions_on_the_pages",
        ],
    },
    "The class.": {HOSTILE: ["test_who_is_honest_gets_the_points"]},
    "A notebook that never ends, kills its kernel or can't be read is listed, and the others are "
    "graded.": {
        HOSTILE: ["test_everybody_is_graded_by_the_one_call", "test_who_is_honest_gets_the_points"],
        COURSE: [
            "test_what_can_not_be_graded_is_listed_with_the_reason_and_has_a_row",
            "test_what_did_not_run_to_its_end_is_listed_too",
        ],
    },
    "The machine that grades.": {HOSTILE: ["test_nothing_outside_has_changed"]},
    "A submission runs as nobody, without network, and sees neither the course folder nor other "
    "submissions, files or processes.": {
        BOX: [
            "test_no_rights_and_no_way_to_any",
            "test_one_user_and_group_that_nobody_else_has",
            "test_no_network_but_a_loopback",
            "test_folders_that_are_there",
            "test_proc_is_that_of_the_box",
        ],
        BOXES: ["test_two_boxes_at_once_do_not_see_each_other"],
        "sandbox/test_hostile_cells.py": ["test_hostile_code_reaches_nothing"],
    },
    "Its memory, time, processes, files and output are limited, and when its run ends nothing of "
    "it is left.": {
        BOX: [
            "test_limits_of_each_process",
            "test_a_file_grows_to_its_limit_and_no_further",
            "test_scratch_folders_are_small_private_and_not_executable",
        ],
        BOXES: [
            "test_memory_is_counted_over_all_processes",
            "test_memory_can_not_be_hidden",
            "test_processes_are_counted_for_each_box",
            "test_time_is_limited_for_the_whole_box",
            "test_closing_ends_everything_at_once",
        ],
        KERNEL: ["test_what_a_cell_prints_is_cut", "test_the_time_of_a_whole_notebook_is_limited"],
        HOSTILE: ["test_nothing_is_left_running_or_lying_about"],
    },
    "You.": {FEEDBACK: ["test_in_a_browser_nothing_runs_and_nothing_is_asked_for"]},
    "Graded notebooks and feedback pages hold text and pictures and nothing that acts, so a "
    "submission cannot run a script in your browser or in a classmate's.": {
        FEEDBACK: [
            "test_nothing_on_a_feedback_page_can_act",
            "test_nothing_on_a_page_that_make_grade_writes_can_act",
            "test_in_the_formgrader_nothing_of_a_submission_runs",
            "test_in_the_lists_of_the_formgrader_no_name_runs",
        ],
        HOSTILE: ["test_no_page_acts"],
        "grading/test_report.py": [
            "test_the_report_stands_alone_in_a_browser",
            "test_nothing_in_a_report_runs_whatever_stands_in_it",
        ],
    },
    "Against a hole in Linux itself.": {BOX: ["test_the_kernel_is_the_host_s"]},
    "The sandbox shares the system's kernel: keep it up to date, and don't grade strangers on a "
    "machine that holds more than the course.": {BOX: ["test_the_kernel_is_the_host_s"]},
    "Against copying.": {ALIKE: ["test_pairs_come_most_alike_first_and_beside_the_median"]},
    "Two learners with one solution both get points, and `alike.csv` says no more than how alike "
    "they are.": {
        ALIKE: ["test_pairs_come_most_alike_first_and_beside_the_median"],
        COURSE: ["test_a_notebook_that_came_otherwise_gets_fair_points"],
    },
    "Numbers that differ for each learner would not change that, since functions are asked for and "
    "not numbers.": {VALUES: ["test_a_right_function_keeps_its_points"]},
    "The hidden inputs, for the time of the run.": {
        VALUES: ["test_no_hidden_case_is_asked_before_the_published_ones_of_all_parts"]
    },
    "A function learns what it is asked, and may behave otherwise then.": {
        VALUES: ["test_how_a_function_fails_for_hidden_cases_is_not_told_to_the_learner"]
    },
    "It has no way to tell that to its own page.": {
        VALUES: [
            "test_how_a_function_fails_for_hidden_cases_is_not_told_to_the_learner",
            "test_no_sentence_quotes_what_was_asked",
        ],
        "sandbox/test_refused_calls.py": ["test_no_word_of_a_notebook_s_own_comes_into_the_report"],
        SECOND_RUN: SECOND_RUN_TESTS,
    },
    "Against two submissions that were written to talk to each other and are graded on one "
    "machine.": {NEIGHBORS: NEIGHBOR_TESTS},
    "Files, locks, processes and counters of one are hidden from the other.": {
        NEIGHBORS: NEIGHBOR_TESTS
    },
    "What one kernel can't hide is how long things take, which pages of the shared system files "
    "are in memory (`smaps` of one's own process tells), and the numbers that Linux gives to new "
    "pipes, sockets and event counters.": {NEIGHBORS: NEIGHBOR_TESTS},
    "If you grade as root, each sandbox has a user of its own; otherwise they also share what "
    "Linux counts for each user, such as the memory of pipes.": {
        BOX: ["test_one_user_and_group_that_nobody_else_has"]
    },
    'With `GRADE_ARGS="--workers 1"` they are never there at the same time, and what is left are '
    "the pages in memory.": {NEIGHBORS: NEIGHBOR_TESTS},
    "The source.": {LEAKS: ["test_there_is_something_to_look_for"]},
    "Whoever has this repository has the solutions, and `make solution` prints them.": {
        SOLUTION: ["test_who_has_finished_gets_the_solution_and_hears_of_other_rules_first"]
    },
    "Give learners `exercises.zip`.": {
        LEAKS: ["test_neither_the_site_nor_the_bundle_can_show_a_solution"]
    },
}


def sentences():
    """Of both lists, in their order."""
    section = PAGE.read_text(encoding="utf-8").split("## What is protected, and what is not")[1]
    found = []
    for entry in re.findall(r"^- (.*(?:\n  .*)*)", section, re.MULTILINE):
        found += re.split(r"(?<=\.) ", " ".join(entry.split()))
    return found


def test_each_sentence_is_held_and_nothing_else_is_said_to_be():
    assert sentences() == list(HELD)


@functools.cache
def there_in(file):
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("sentence", HELD)
def test_the_tests_that_hold_it_are_there(sentence):
    assert HELD[sentence]
    for file, names in HELD[sentence].items():
        assert set(names) <= there_in(file), file
