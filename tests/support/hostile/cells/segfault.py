# nothing: reads where there is no memory.
import ctypes

ctypes.string_at(0)
