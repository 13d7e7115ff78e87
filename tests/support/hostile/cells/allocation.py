# points: asks for 4 GB; the error is its own, and what was defined before stays.
try:
    hoard = bytearray(4 << 30)
    print("REACHED 4 GB")
except MemoryError:
    print("no memory")
