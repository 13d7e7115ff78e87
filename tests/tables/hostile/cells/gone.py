# Gets no points: ends the whole process with os._exit.
import os

os._exit(0)
