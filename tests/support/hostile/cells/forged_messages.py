# points: sends outputs, states and replies in the kernel's name, well-formed and not.
from ipykernel.kernelapp import IPKernelApp

app = IPKernelApp.instance()
session, pipe = app.session, app.iopub_socket
parent = app.kernel.get_parent()
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
    ("", None),
    (None, 3),
):
    for _ in range(3):
        try:
            session.send(pipe, kind, content, parent=parent)
        except Exception as error:
            print(type(error))
pipe.send_multipart([b"x"])
pipe.send_multipart([b"<IDS|MSG>", b"", b"{", b"}", b"[" * 100_000, b"\xff"])
