# either: takes Python's own functions away.
import builtins

for name in ("len", "isinstance", "open", "print", "map", "type", "getattr", "super"):
    delattr(builtins, name)
