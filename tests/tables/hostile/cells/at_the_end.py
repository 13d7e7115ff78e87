# Keeps points: registers handlers, a finalizer and a thread that block the exit of its process.
import atexit
import signal
import threading
import time


def stay():
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass


class Stays:
    def __del__(self):
        stay()


last = Stays()
atexit.register(stay)
threading.Thread(target=stay).start()
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: stay())
