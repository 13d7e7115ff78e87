# May lose points: sends endless tiny outputs directly to the socket, bypassing stream buffers.
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
