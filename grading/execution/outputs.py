"""Cell outputs, assembled from a kernel's messages as JupyterLab does."""

from collections import Counter

from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

from grading.sandbox.cell_channel import Content

# Limits on the output of a cell and of a notebook; output beyond them is dropped. The number of
# outputs is limited too, because rendering even a short one takes time.
OUTPUT_CHARACTERS, NOTEBOOK_CHARACTERS = 1_000_000, 5_000_000
MAX_OUTPUTS, NOTEBOOK_OUTPUTS = 1_000, 3_000
MAX_ERRORS = 10  # per cell; errors do not count toward the limits above
TRACEBACK_LINES = 200


class Outputs:
    """The outputs of one notebook. Call `begin` before each cell."""

    def __init__(self) -> None:
        # Display id → the data and metadata shared by all outputs with this id, so that the cost of
        # an update does not depend on their number.
        self.displays: dict[str, tuple[NotebookNode, NotebookNode]] = {}
        self.sharing: Counter[str] = Counter()  # display id → number of outputs that share it
        self.all_printed = self.all_outputs = 0
        self.begin([])

    def begin(self, outputs: list[NotebookNode]) -> None:
        """Start a cell: append its outputs to this list from now on."""
        self.outputs, self.printed, self.clears = outputs, 0, False
        self.taken = self.errors = 0

    def take(self, kind: str, content: Content) -> None:
        """Handle a well-formed message; drop it beyond the limits or if invalid.

        It is invalid if nbformat rejects it.
        """
        if kind == "error":
            self.errors += 1
            if self.errors > MAX_ERRORS:
                return
            content = content | {"traceback": content["traceback"][:TRACEBACK_LINES]}
        elif kind != "clear_output" and not self._has_room(kind, content):
            return
        try:
            self._take(kind, content)
        except Exception:  # raised by nbformat for content that no real kernel sends
            return

    def _has_room(self, kind: str, content: Content) -> bool:
        # Count the size once for each output with this display id: each is saved separately.
        size = len(str(content)) * max(1, self.sharing[_name(content)])
        self.printed += size
        self.taken += kind != "update_display_data"
        fits = (
            self.printed <= OUTPUT_CHARACTERS
            and self.all_printed + size <= NOTEBOOK_CHARACTERS
            and self.taken <= MAX_OUTPUTS
            and self.all_outputs < NOTEBOOK_OUTPUTS
        )
        if fits:
            self.all_printed += size
            self.all_outputs += kind != "update_display_data"
        return fits

    def _take(self, kind: str, content: Content) -> None:
        if kind == "clear_output":
            if content.get("wait"):
                self.clears = True
            else:
                self._clear()
            return
        shown = "display_data" if kind == "update_display_data" else kind
        output = output_from_msg({"header": {"msg_type": shown}, "content": content})
        name = _name(content)
        if name and kind != "stream" and name in self.displays:
            data, metadata = self.displays[name]
            for shared, new in ((data, output["data"]), (metadata, output["metadata"])):
                shared.clear()
                shared.update(new)
            output["data"], output["metadata"] = data, metadata
        if kind == "update_display_data":
            return
        if self.clears:
            self._clear()
        self.outputs.append(output)
        if name and kind != "stream":
            self.displays[name] = output["data"], output["metadata"]
            self.sharing[name] += 1

    def _clear(self) -> None:
        self.outputs.clear()
        self.clears = False


def _name(content: Content) -> str:
    """Return the display id in this content, "" if it has none."""
    name: str = content.get("transient", {}).get("display_id", "")
    return name
