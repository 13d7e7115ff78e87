# May lose points: sends endless forged replies that this cell, and later ones, have finished.
import threading

from ipykernel.kernelapp import IPKernelApp

lines = IPKernelApp.instance().session


def flood():
    while True:
        try:
            lines.connection.sendall(b'[%d, "done", {"kept": true}]\n' % lines.number * 99)
        except Exception:
            pass


for _ in range(2):
    threading.Thread(target=flood, daemon=True).start()
flood()
