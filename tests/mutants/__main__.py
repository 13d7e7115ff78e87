"""Entry point of ``python tests/mutants``.

See runner.py, named.toml and reviewed.toml.
"""

from runner import main

main()
