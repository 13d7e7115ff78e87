# May lose points: deletes built-in functions.
import builtins

for name in ("len", "isinstance", "open", "print", "map", "type", "getattr", "super"):
    delattr(builtins, name)
