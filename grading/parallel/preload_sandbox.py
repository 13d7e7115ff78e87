"""Imported by the fork server before all else, so that one zygote starts up for all workers.

Each would otherwise start its own, for a second and a half of computing and 60 MB.
"""

from grading.sandbox.fork_server import begin_to_share

begin_to_share()
