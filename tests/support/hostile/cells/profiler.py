# points: watches every call of its process, to see what it is asked by whom.
import sys
import threading

seen = []


def watch(frame, event, argument):
    if event == "call" and len(seen) < 1000:
        seen.append(frame.f_code.co_name)


sys.setprofile(watch)
threading.setprofile(watch)
