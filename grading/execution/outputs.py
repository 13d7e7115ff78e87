"""Puts together what a cell shows out of messages, as JupyterLab does."""

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

from grading.sandbox.cell_channel import Content

OUTPUT_CHARACTERS = 1_000_000  # of a cell; what it prints beyond that is dropped
COUNTED = ("stream", "display_data", "execute_result")


class Outputs:
    """The outputs of one notebook. Each cell begins with none, and is begun by `begin`."""

    def __init__(self) -> None:
        # Name of a display → the outputs, of whichever cell, that show it or did.
        self.displays: dict[str, list[NotebookNode]] = {}
        self.begin([])

    def begin(self, outputs: list[NotebookNode]) -> None:
        """From now on messages are about these outputs."""
        self.outputs, self.printed, self.clears = outputs, 0, False

    def take(self, kind: str, content: Content) -> None:
        """Take in a well-formed message; nothing of it if that is not possible."""
        if kind in COUNTED:
            self.printed += len(str(content))
            if self.printed > OUTPUT_CHARACTERS:
                return
        try:
            self._take(kind, content)
        except Exception:  # of nbformat: what no kernel says
            return

    def _take(self, kind: str, content: Content) -> None:
        if kind == "clear_output":
            if content.get("wait"):
                self.clears = True
            else:
                self._clear()
            return
        shown = "display_data" if kind == "update_display_data" else kind
        output = output_from_msg({"header": {"msg_type": shown}, "content": content})
        name: Any = content.get("transient", {}).get("display_id")
        if name and kind != "stream":
            for other in self.displays.get(name, ()):
                other["data"], other["metadata"] = output["data"], output["metadata"]
        if kind == "update_display_data":
            return
        if self.clears:
            self._clear()
        self.outputs.append(output)
        if name:
            self.displays.setdefault(name, []).append(output)

    def _clear(self) -> None:
        self.outputs.clear()
        self.clears = False
