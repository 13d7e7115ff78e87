# either: sends tiny outputs without end, past the buffers that the streams have.
import json

from ipykernel.kernelapp import IPKernelApp

lines = IPKernelApp.instance().session
line = json.dumps([lines.number, "stream", {"name": "stdout", "text": "x"}]).encode() + b"\n"
while True:
    try:
        while True:
            lines.connection.sendall(line * 1000)
    except BaseException:
        pass
