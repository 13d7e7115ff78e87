# either: has each copy that is to be asked wait for ever before it lets the notebook go on.
import os
import time

os.setsid = lambda: time.sleep(10_000)
