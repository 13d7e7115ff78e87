# May lose points: shows one display a thousand times, and then updates it forever.
import json

from ipykernel.kernelapp import IPKernelApp

lines = IPKernelApp.instance().session


def line(kind, text):
    content = {"data": {"text/plain": text}, "metadata": {}, "transient": {"display_id": "one"}}
    return json.dumps([lines.number, kind, content]).encode() + b"\n"


try:
    for _ in range(10):
        lines.connection.sendall(line("display_data", "x") * 100)
    while True:
        lines.connection.sendall(line("update_display_data", "y" * 100) * 100)
except Exception:
    pass
