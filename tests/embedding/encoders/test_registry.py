"""Names of encoders."""

import pytest

from softspread.embedding.embed import embed
from softspread.embedding.encoders.pixels import NoEncoder, PixelsEncoder
from softspread.embedding.encoders.registry import ENCODERS, find_encoder
from softspread.errors import InputError


def test_a_name_may_carry_a_size():
    """Pixels come in any size; features that exist need no encoder."""
    assert find_encoder("pixels").preparation.height == 32
    assert find_encoder("pixels:28").preparation.height == 28
    assert isinstance(find_encoder("pixels"), PixelsEncoder)
    assert isinstance(find_encoder("none"), NoEncoder)
    assert find_encoder("none").takes == ("features",)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("clipp", "encoder must be one of 'clip'"),
        ("./nowhere", "or a file that ends in .onnx, got"),
        ("pixels:x", "pixels:28"),
    ],
)
def test_an_unknown_encoder_lists_what_there_is(name, part):
    """A typo costs one line."""
    with pytest.raises(InputError, match=part):
        find_encoder(name)


def test_every_name_has_a_factory():
    """Short names of models, ngrams, pixels and none; nothing is loaded by asking."""
    models = ("clip", "vit", "resnet", "efficientnet", "dinov2", "sentence")
    assert ENCODERS.names()[:9] == (*models, "ngrams", "pixels", "none")
    assert all(callable(ENCODERS.get(name)) for name in ENCODERS.names())


def test_text_and_images_are_not_mixed_up(sentence_folder, image_models, pictures, tmp_path):
    """Each kind of encoder says what it takes."""
    with pytest.raises(InputError, match="takes text"):
        embed(pictures, encoder=sentence_folder, reduce="none")
    with pytest.raises(InputError, match="takes text"):
        embed(tmp_path, encoder=sentence_folder, reduce="none")
    encoder = find_encoder(str(image_models["vit"][0]))
    with pytest.raises(InputError, match="takes images"):
        encoder.encode_texts(["a cat"])
