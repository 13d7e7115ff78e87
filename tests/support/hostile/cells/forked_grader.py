# either: makes os.fork return 0, so that the notebook's process takes itself for the forked copy.
import os

os.fork = lambda: 0
