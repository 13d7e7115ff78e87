# Gets no points: ends with a core dump, by calling abort().
import os

os.abort()
