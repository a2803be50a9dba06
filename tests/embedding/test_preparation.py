"""Every kind of image becomes the same pixels, and resizing is what the models were trained with."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.preparation import (
    Preparation,
    UnreadableImage,
    preparation_from,
    prepare,
    read_preparation,
)
from softspread.errors import InputError

Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
SQUARE = Preparation(16, 16)
CROPPED = Preparation(24, 24, shortest_edge=32)


def stored(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@pytest.fixture
def colours():
    """A 40 x 30 picture whose four corners differ."""
    x, y = np.meshgrid(np.linspace(0, 255, 40), np.linspace(0, 255, 30))
    return np.stack([x, y, 255 - x], axis=2).astype(np.uint8)


def upright(pixels):
    return pixels.transpose(1, 2, 0).astype(int)


@pytest.mark.parametrize("wanted", [SQUARE, CROPPED, Preparation(16, 24)])
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 2), (7, 5), (40, 30), (640, 480)])
def test_any_size_becomes_the_wanted_one(size, wanted):
    """From one pixel to a long strip."""
    image = Image.new("RGB", size, (200, 100, 50))
    pixels = prepare(stored(image), wanted)
    assert pixels.shape == (3, wanted.height, wanted.width)
    assert pixels.dtype == np.uint8
    assert (upright(pixels) == (200, 100, 50)).all()  # one colour stays that colour


def test_cropping_while_resizing_equals_resizing_then_cropping(colours):
    """Leaving out what the crop removes changes no pixel."""
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, size=(61, 97, 3), dtype=np.uint8))
    wanted = Preparation(32, 32, shortest_edge=36)
    full = image.resize((int(36 * 97 / 61), 36), Image.Resampling.BICUBIC)
    left, top = (full.width - 32) // 2, (full.height - 32) // 2
    expected = np.asarray(full.crop((left, top, left + 32, top + 32))).astype(int)
    assert np.abs(upright(prepare(stored(image), wanted)) - expected).max() <= 1  # rounding of the last bit


def test_a_crop_larger_than_the_image_is_padded_with_black():
    """As the models' own preparation does."""
    pixels = upright(
        prepare(stored(Image.new("RGB", (10, 10), "white")), Preparation(20, 20, shortest_edge=10))
    )
    assert (pixels[5:15, 5:15] == 255).all()
    assert pixels.sum() == 10 * 10 * 3 * 255


@pytest.mark.parametrize("mode", ["L", "1", "P", "LA", "RGBA", "I;16", "I", "F"])
def test_grey_in_every_mode_is_grey(mode):
    """An even grey comes out even and grey, whatever the file keeps it as."""
    grey = np.full((20, 20), 255, dtype=np.uint8)
    if mode == "I;16":
        image = Image.fromarray(np.full((20, 20), 65535, dtype=np.uint16))
    elif mode == "F":
        image = Image.fromarray(np.full((20, 20), 1.0, dtype=np.float32))
    elif mode == "I":
        image = Image.fromarray(np.full((20, 20), 65535, dtype=np.int32))
    else:
        image = Image.fromarray(grey).convert(mode)
    assert (prepare(stored(image, "TIFF"), SQUARE) == 255).all()


def test_16_bit_keeps_its_shades():
    """Half of 65535 is half of 255."""
    ramp = np.linspace(0, 65535, 16 * 16).reshape(16, 16).astype(np.uint16)
    found = upright(prepare(stored(Image.fromarray(ramp)), SQUARE))[:, :, 0]
    assert_allclose(found, ramp / 257, atol=0.51)


def test_cmyk_and_rgb_show_the_same_colours(colours):
    """A print file looks as its screen twin."""
    image = Image.fromarray(colours)
    as_print = prepare(stored(image.convert("CMYK"), "TIFF"), SQUARE).astype(int)
    assert np.abs(as_print - prepare(stored(image), SQUARE)).max() <= 2


def test_a_cmyk_jpeg_is_read():
    """White paper is white."""
    image = Image.new("CMYK", (20, 20), (0, 0, 0, 0))
    assert (prepare(stored(image, "JPEG"), SQUARE) > 250).all()


def test_transparent_is_white(colours):
    """What a viewer shows, not the colour hidden under it."""
    clear = np.dstack([colours, np.zeros(colours.shape[:2], dtype=np.uint8)])
    assert (prepare(stored(Image.fromarray(clear)), SQUARE) == 255).all()
    opaque = np.dstack([colours, np.full(colours.shape[:2], 255, dtype=np.uint8)])
    assert (prepare(stored(Image.fromarray(opaque)), SQUARE) == prepare(colours, SQUARE)).all()


def test_a_palette_with_transparency_is_white_there():
    """Palette images keep transparency apart."""
    image = Image.new("P", (8, 8), 0)
    image.putpalette([255, 0, 0, 0, 255, 0])
    assert (prepare(stored(image, "PNG", transparency=0), SQUARE) == 255).all()
    assert (upright(prepare(stored(image, "PNG"), SQUARE)) == (255, 0, 0)).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photo_stands_upright(orientation, colours):
    """Any EXIF orientation gives the picture that it means."""
    turns = {
        1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1], 4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2), 6: lambda a: np.rot90(a, 1),
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: np.rot90(a, -1),
    }  # fmt: skip
    tags = Image.Exif()
    tags[0x0112] = orientation
    file = stored(Image.fromarray(np.ascontiguousarray(turns[orientation](colours))), "PNG", exif=tags)
    assert (prepare(file, CROPPED) == prepare(colours, CROPPED)).all()


def test_a_large_jpeg_is_decoded_small_and_looks_the_same(colours):
    """Decoding at a fraction of the size changes pixels by a few shades only."""
    image = Image.fromarray(colours).resize((800, 600), Image.Resampling.BICUBIC)
    small, whole = prepare(stored(image, "JPEG", quality=95), CROPPED), prepare(stored(image), CROPPED)
    assert np.abs(small.astype(int) - whole).mean() < 2
    assert np.abs(small.astype(int) - whole).max() < 12


def test_the_first_picture_of_several_counts(colours):
    """An animation is its first frame."""
    frames = [Image.new("RGB", (16, 16), "black"), Image.new("RGB", (16, 16), "white")]
    assert (prepare(stored(frames[0], "GIF", save_all=True, append_images=frames[1:]), SQUARE) == 0).all()


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (np.ones((4, 4), dtype=bool), 255),
        (np.full((4, 4, 1), 0.5), 128),
        (np.full((4, 4, 3), 128.0), 128),
        (np.full((4, 4), 128, dtype=np.int64), 128),
        (np.full((4, 4), 65535, dtype=np.uint16), 255),
    ],
)
def test_arrays_of_any_type_are_scaled_to_bytes(array, value):
    """Truth values, 0 to 1, 0 to 255 and 16 bits."""
    assert (prepare(array, SQUARE) == value).all()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"this is not a picture", "not an image"),
        (np.full((4, 4), -1.0), "from -1"),
        (np.full((4, 4), np.nan), "not finite"),
        (np.zeros((4, 4, 2)), "shape"),
        (np.full((4, 4), 70000), "65535"),
    ],
)
def test_what_is_no_image_says_why(content, reason):
    """One short reason each."""
    with pytest.raises(UnreadableImage, match=reason):
        prepare(content, SQUARE)


def test_half_a_file_is_unreadable(colours):
    """A download that broke off."""
    for kind in ("PNG", "JPEG"):
        whole = stored(Image.fromarray(colours).resize((300, 300)), kind)
        with pytest.raises(UnreadableImage):
            prepare(whole[: len(whole) // 2], SQUARE)


def test_normalising_is_the_formula(colours):
    """(pixel / 255 - mean) / std, channel by channel."""
    wanted = Preparation(16, 16, mean=(0.1, 0.2, 0.3), std=(0.5, 0.6, 0.7))
    pixels = prepare(colours, wanted)[None]
    expected = (pixels / 255 - np.array(wanted.mean)[:, None, None]) / np.array(wanted.std)[:, None, None]
    assert_allclose(wanted.normalize(pixels), expected, rtol=1e-5, atol=1e-6)


SETTINGS = [
    ("CLIPImageProcessor", {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}}),
    ("CLIPFeatureExtractor", {"size": 40, "crop_size": 32, "do_center_crop": True}),
    ("ViTImageProcessor", {"size": {"height": 32, "width": 32}, "resample": 2}),
    ("ViTFeatureExtractor", {"size": 32, "resample": 2}),
    ("BitImageProcessor", {"size": {"shortest_edge": 48}, "crop_size": {"height": 32, "width": 32}}),
    ("ConvNextImageProcessor", {"size": {"shortest_edge": 32}, "crop_pct": 0.875}),
    ("ConvNextFeatureExtractor", {"size": 400, "crop_pct": 0.875}),
]


@pytest.mark.parametrize(("kind", "settings"), SETTINGS, ids=[kind for kind, _ in SETTINGS])
def test_preparation_equals_the_models_own(kind, settings, colours):
    """transformers' image processors, where they can run, make the same numbers."""
    transformers = pytest.importorskip("transformers", reason="needs softspread[embed]")
    name = kind.replace("FeatureExtractor", "ImageProcessor")
    processor = getattr(transformers, name + "Pil", None)
    if processor is None:
        pytest.skip("this version of transformers has no processor without torchvision")
    shared = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.3, 0.25]}
    key = "image_processor_type" if "Processor" in kind else "feature_extractor_type"
    ours = preparation_from({key: kind, **settings, **shared})
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, size=(70, 90, 3), dtype=np.uint8))
    theirs = processor(**settings, **shared)(image, return_tensors="np")["pixel_values"]
    found = ours.normalize(prepare(stored(image), ours)[None])
    assert found.shape == theirs.shape
    assert np.abs(found - theirs).max() <= 1.01 / 255 / 0.2  # one shade at most


@pytest.mark.parametrize(
    "text", ["not json", "{}", '{"size": {"longest_edge": 3}}', '{"size": {"shortest_edge": 3}}']
)
def test_settings_we_do_not_understand_are_refused(text, tmp_path):
    """Rather an error than wrong pixels."""
    (tmp_path / "preprocessor_config.json").write_text(text)
    with pytest.raises(InputError, match=r"preprocessor_config\.json"):
        read_preparation(tmp_path)


def test_a_folder_without_settings_is_refused_or_falls_back(tmp_path):
    """Only callers that know better may go on."""
    with pytest.raises(InputError, match="is unknown"):
        read_preparation(tmp_path)
    assert read_preparation(tmp_path, SQUARE) is SQUARE
    with pytest.raises(InputError, match="positive"):
        Preparation(0, 5)
