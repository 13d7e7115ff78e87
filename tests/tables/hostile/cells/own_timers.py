# Keeps points: sets the timers that limit it, of computing and of the clock, to go off at once.
import signal

for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
    try:
        signal.setitimer(timer, 0.01)
        while True:
            pass
    except BaseException as late:
        print(late)
