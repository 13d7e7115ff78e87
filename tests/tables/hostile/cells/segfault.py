# Gets no points: reads from address 0.
import ctypes

ctypes.string_at(0)
