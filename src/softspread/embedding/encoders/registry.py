"""From a name to an encoder; other packages add names by entry point.

"clip" | "openai/clip-vit-base-patch32" | folder | model.onnx | "pixels" | "ngrams" | "none"  ->  Encoder
"""

from pathlib import Path
from typing import TYPE_CHECKING

from softspread._common.registry import Registry
from softspread.embedding.encoders.known_models import KNOWN

if TYPE_CHECKING:
    from softspread.embedding.encoders.encoder import Encoder, EncoderFactory
    from softspread.embedding.encoders.function import Encode

_HERE = "softspread.embedding.encoders"
_MODEL = f"{_HERE}.transformer:model_encoder"
ENCODERS: "Registry[EncoderFactory]" = Registry(
    "encoder",
    "softspread.encoders",
    {
        **dict.fromkeys(KNOWN, _MODEL),
        "ngrams": f"{_HERE}.ngrams:ngrams_encoder",
        "pixels": f"{_HERE}.pixels:pixels_encoder",
        "none": f"{_HERE}.pixels:no_encoder",
    },
    otherwise="(a size may follow pixels and ngrams: 'pixels:28'), a Hugging Face name (owner/model), a "
    "folder with config.json, or a file that ends in .onnx",
)


def find_encoder(
    name: "str | Path | Encode", *, device: str = "auto", half: bool | None = None, download: bool = False
) -> "Encoder":
    """The encoder of a name, or that of a function.

    Parameters
    ----------
    name : see the top of this module; what follows a colon is left to the encoder
    device : "auto" (CUDA, then MPS, then the CPU), or a name that torch knows
    half : half precision; None: on CUDA only, where it is safe. True elsewhere is refused
    download : whether a model that is not on this machine may be fetched
    """
    if callable(name):
        from softspread.embedding.encoders.function import FunctionEncoder

        return FunctionEncoder(name)
    text = str(name)
    make = _factory(text)
    return make(text, device=device, half=half, download=download)


def _factory(name: str) -> "EncoderFactory":
    """By the word before a colon, by the ending of a file, or as a model; else an error that lists all."""
    word = name.partition(":")[0]
    if word in ENCODERS.names():
        return ENCODERS.get(word)
    if name.endswith(".onnx"):
        from softspread.embedding.encoders.onnx import onnx_encoder

        return onnx_encoder
    if Path(name).is_dir() or (name.count("/") == 1 and not name.startswith((".", "/", "~"))):
        from softspread.embedding.encoders.transformer import model_encoder

        return model_encoder
    return ENCODERS.get(name)
