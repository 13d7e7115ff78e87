# Gets no points: exceeds the memory limit with many processes that each stay below it.
import os
import time

for _ in range(12):
    if os.fork() == 0:
        hoard = bytearray(400 << 20)
        for place in range(0, len(hoard), 4096):
            hoard[place] = 1
        time.sleep(600)
time.sleep(60)
print("REACHED 4.8 GB")
