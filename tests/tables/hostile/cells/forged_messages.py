# May lose points: sends forged outputs in this cell's name, and malformed ones for later ones.
import json
import os
import socket

OUTPUTS = (
    ["execute_result", "20.0", ""],
    ["display_data", "<script>REACHED</script>", "x"],
    ["display_data", "", 'iVBORw0KGgo"><script>1</script>'],
    ["stderr", "\x1b[2J"],
    ["error", "E", "x"],
)
MALFORMED = (
    ["display_data", ["x", 1], ""],
    ["display_data", "x"],
    ["stdout", 7],
    ["stdfoo", "x"],
    {"output_type": "stream", "name": "stdout", "text": "x"},
    [],
    None,
)
messages = [json.dumps(["done", found]) for found in (OUTPUTS, [])]
messages += [json.dumps(["done", one and [one]]) for one in MALFORMED]
messages += ["[null, 3]", "x", "[1", "[]", "7", "{}", "[" * 100_000, "9" * 5_000, "", "\0"]
for descriptor in range(3, 64):
    try:
        grader = socket.socket(fileno=os.dup(descriptor))
        grader.sendall("".join(f"{one}\n" for one in messages).encode() + b"\xff\n")
    except OSError:
        pass
