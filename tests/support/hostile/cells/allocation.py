# points: allocates 4 GB; the MemoryError affects only this cell, and earlier definitions stay.
try:
    hoard = bytearray(4 << 30)
    print("REACHED 4 GB")
except MemoryError:
    print("no memory")
