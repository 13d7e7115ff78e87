"""``python tests/mutants``: see runner.py, and named.toml and reviewed.toml beside it."""

from runner import main

main()
