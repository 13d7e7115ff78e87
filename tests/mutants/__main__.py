"""Entry point of ``python tests/mutants``; see runner.py, named.toml and reviewed.toml."""

from runner import main

main()
