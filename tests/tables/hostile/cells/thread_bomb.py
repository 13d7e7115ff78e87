# May lose points: starts 5000 threads.
import threading
import time

try:
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    print("REACHED 5000 threads")
except RuntimeError as error:
    print("stopped:", error)
