"""The widget of a voter: anywidget carries messages between the browser and the kernel.

voter.js, zoom.js  <->  {operations, ...} and bytes  <->  Voter.hear
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from softspread._common.extras import needs_extra

STATIC = Path(__file__).parent / "static"


def script() -> str:
    """One module for the browser: the voter's script, with the script that it imports in its place."""
    zoom = (STATIC / "zoom.js").read_text(encoding="utf-8").replace("export class", "class")
    own = (STATIC / "voter.js").read_text(encoding="utf-8")
    return own.replace('import { Zoom } from "./zoom.js";\n', zoom)


def build_widget(about: dict[str, Any], hear: Callable[[Mapping[str, Any]], Any]) -> Any:
    """A widget that passes messages to ``hear`` and sends its replies.

    Parameters
    ----------
    about : what the browser has to know from the start
    hear : returns a reply with ``content`` and ``buffers``
    """
    with needs_extra("notebook", "voting in a notebook needs anywidget"):
        import anywidget
        import traitlets

    class VoterWidget(anywidget.AnyWidget):
        """The page in the cell."""

        _esm = script()
        _css = (STATIC / "voter.css").read_text(encoding="utf-8")
        about = traitlets.Dict().tag(sync=True)

    def on_message(widget: Any, message: Any, buffers: Any) -> None:
        try:
            reply = hear(message)
        except Exception as error:  # the browser must not wait for an answer that never comes
            widget.send({"view": message.get("view"), "failed": f"{type(error).__name__}: {error}"})
            raise
        widget.send(reply.content, reply.buffers)

    widget = VoterWidget(about=about)
    widget.on_msg(on_message)
    return widget
