# First, hidden cell of every page. It runs in the page's kernel, so its names there start with "_".
def _page_values_maker() -> object:
    import sys
    from collections.abc import Sequence
    from numbers import Integral
    from typing import Any

    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    # By default a stream is flushed at intervals, even in the middle of a line, and MyST-NB would
    # insert a line break there.
    sys.stdout.flush_interval = 60  # type: ignore[union-attr]
    shell.config.InlineBackend.figure_formats = {"svg"}
    shown: dict[str, str] = {}

    def as_text(value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Integral) and not isinstance(value, bool):
            return f"{value:,}"
        if getattr(value, "unit", None) is not None:
            return str(value)  # a quantity of rooflib prints its own unit
        raise TypeError(
            f"the value is {value!r} ({type(value).__name__}): "
            "only str, int and quantities are shown as they are; format it, for example f'{x:.1f}'"
        )

    def record(name: str, text: str) -> None:
        mime = "application/papermill.record/"
        scrapbook = {"name": name, "mime_prefix": mime}
        display({f"{mime}text/plain": text}, raw=True, metadata={"scrapbook": scrapbook})

    def page_values(expressions: Sequence[str]) -> None:
        for expression in expressions:
            try:
                text = as_text(eval(expression, shell.user_ns))
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise RuntimeError(f"{{eval}}`{expression}`: {reason}") from error
            if expression not in shown:
                shown[expression] = text
                record(expression, text)
            elif shown[expression] != text:
                raise RuntimeError(
                    f"{{eval}}`{expression}`: was {shown[expression]!r} further up on this page "
                    f"and is {text!r} here; give one of the two its own name"
                )

    return page_values


_page_values = _page_values_maker()
