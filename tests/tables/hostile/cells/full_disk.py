# Keeps points: fills every writable folder, first with data and then with empty files.
import os

total = 0
for folder in ("/tmp", "/home/learner", "/dev/shm"):
    files = []
    try:
        for number in range(1000):
            path = f"{folder}/fill-{number}"
            files.append(path)
            with open(path, "wb") as file:
                for _ in range(16):
                    total += file.write(bytes(1 << 20))
    except OSError as error:
        print(folder, error)
    for path in files:
        os.unlink(path)
    try:
        for number in range(200_000):
            with open(f"{folder}/name-{number}", "wb"):
                pass
        print("REACHED 200000 files")
    except OSError as error:
        print(folder, number, error)
if total > 300 << 20:
    print("REACHED", total, "bytes")
