# Keeps points: allocates 4 GB; the MemoryError affects only this cell, not earlier definitions.
try:
    hoard = bytearray(4 << 30)
    print("REACHED 4 GB")
except MemoryError:
    print("no memory")
