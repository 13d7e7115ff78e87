# May lose points: sends forged outputs in this cell's name, and malformed ones for later ones.
import json
import os
import socket

OUTPUTS = (
    {"output_type": "execute_result", "data": {"text/plain": "20.0"}, "execution_count": 1},
    {"output_type": "display_data", "data": {"text/html": "<script>REACHED</script>"}},
    {"output_type": "display_data", "data": {"image/png": "x"}, "metadata": {"x": 1}},
    {"output_type": "stream", "name": "stdfoo", "text": "x"},
    {"output_type": "error", "ename": "E", "evalue": "x", "traceback": []},
)
MALFORMED = (
    {"output_type": "display_data", "data": {"text/plain": ["x", 1]}},
    {"output_type": "stream", "text": 7},
    {"output_type": "no_such_kind"},
    None,
)
messages = [json.dumps(["done", found]) for found in (OUTPUTS, [], MALFORMED, None)]
messages += ["[null, 3]", "x", "[1", "[]", "7", "{}", "[" * 100_000, "9" * 5_000, "", "\0"]
for descriptor in range(3, 64):
    try:
        grader = socket.socket(fileno=os.dup(descriptor))
        grader.sendall("".join(f"{one}\n" for one in messages).encode() + b"\xff\n")
    except OSError:
        pass
