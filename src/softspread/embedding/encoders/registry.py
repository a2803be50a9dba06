"""From a name to an encoder.

"clip" | "openai/clip-vit-base-patch32" | folder | model.onnx | "pixels" | "pixels:28" | "none"  ->  Encoder
"""

from pathlib import Path

from softspread.embedding.encoders.encoder import Encoder
from softspread.embedding.encoders.model_files import find_model
from softspread.embedding.encoders.pixels import NoEncoder, PixelsEncoder


def find_encoder(
    name: str | Path, *, device: str = "auto", half: bool | None = None, download: bool = False
) -> Encoder:
    """The encoder of a name.

    Parameters
    ----------
    name : see the top of this module
    device : "auto" (CUDA, then MPS, then the CPU), or a name that torch knows
    half : half precision; None: on CUDA only, where it is safe. True elsewhere is refused
    download : whether a model that is not on this machine may be fetched
    """
    text = str(name)
    if text == "none":
        return NoEncoder()
    if text == "pixels" or text.startswith("pixels:"):
        return PixelsEncoder.named(text)
    if text.endswith(".onnx"):
        from softspread.embedding.encoders.onnx import OnnxEncoder

        return OnnxEncoder(Path(name))
    folder = find_model(text, download)
    from softspread.embedding.encoders.transformer import TransformerEncoder

    return TransformerEncoder(text, folder, device=device, half=half)
