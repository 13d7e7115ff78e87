# either: sends tiny outputs without end, past the kernel's own buffers.
import os

from ipykernel.kernelapp import IPKernelApp

app = IPKernelApp.instance()
parent = app.kernel.get_parent()
while True:
    try:
        content = {"name": "stdout", "text": "x"}
        message = app.session.serialize(app.session.msg("stream", content, parent=parent))
        for _ in range(1000):
            os.getpid() and app.iopub_socket.io_thread.socket.send_multipart(message)
    except BaseException:
        pass
