"""The instructor's side: from notebooks to points, reports and feedback.

The way of a submission: `intake` finds it; `notebook` reads it and puts the learner's cells into
the released notebook; `grade` runs that in a `box`, where `inside` keeps a copy of the process at
each check, asks the copies for hidden inputs, and judges outside what they return. `course` keeps
one result file for each submission, and brings nbgrader's `gradebook`, pages and tables (`report`)
into line with them. `commands` has what an instructor runs, `nbgrader_config` makes plain
nbgrader do the same. `release` loads exercises, and makes of them what learners get.
"""
