# Gets no points: replaces every later cell, including its own solutions, with the number 20.0.
from IPython import get_ipython

shell = get_ipython()
old = shell.run_cell
shell.run_cell = lambda *words, **options: old("20.0", **options)
