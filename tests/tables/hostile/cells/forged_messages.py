# Keeps points: sends forged outputs and replies in the shell's name, well-formed and malformed.
import json

from ipykernel.kernelapp import IPKernelApp

lines = IPKernelApp.instance().session
for kind, content in (
    ("status", {"execution_state": "idle"}),
    ("execute_result", {"data": {"text/plain": "20.0"}, "metadata": {}, "execution_count": 1}),
    ("execute_result", {"data": 5, "metadata": None}),
    ("display_data", {"data": {"text/plain": ["REACHED", 1]}, "metadata": {"x": 1}}),
    ("display_data", {"data": {"text/html": None}, "metadata": {}, "transient": []}),
    ("stream", {"name": "stdfoo", "text": "REACHED"}),
    ("stream", {"text": 7}),
    ("error", {"ename": 1, "evalue": [], "traceback": "x"}),
    ("update_display_data", {"data": {}, "metadata": {}, "transient": {"display_id": [1]}}),
    ("clear_output", {}),
    ("comm_open", {"target_name": "jupyter.widget", "comm_id": 1, "data": {}}),
    ("comm_msg", {}),
    ("no_such_kind", {}),
    ("done", None),
    ("", None),
    (None, 3),
):
    for _ in range(3):
        try:
            lines.send(None, kind, content)
        except Exception as error:
            print(type(error))
        for number in (lines.number, lines.number - 1, "x", None):
            lines.write(json.dumps([number, kind, content]).encode())
for noise in (b"x", b"[1", b"[]", b"7", b"{}", b"[" * 100_000, b"\xff", b"9" * 5_000, b"", b"\0"):
    lines.write(noise)
lines.write(json.dumps([lines.number, "done", {"kept": True}]).encode())
