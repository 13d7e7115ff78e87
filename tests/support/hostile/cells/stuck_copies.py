# either: makes each forked copy that answers questions hang before the notebook can continue.
import os
import time

os.setsid = lambda: time.sleep(10_000)
