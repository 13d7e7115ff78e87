# May lose points: sends signals to its parent, to process 1, and to all processes.
import os
import signal
import threading

signal.signal(signal.SIGTERM, signal.SIG_IGN)
for target in (os.getppid(), 1, -1):
    for number in (signal.SIGTERM,) if target == -1 else sorted(signal.valid_signals()):
        try:
            os.kill(target, number)
        except OSError:
            pass
own = {os.getpid()} | {thread.native_id for thread in threading.enumerate()}
for target in range(2, 3000):
    if target not in own:
        try:
            os.kill(target, signal.SIGKILL)
            print("REACHED process", target)
        except OSError:
            pass
