"""Real loading code on tiny models: shapes, pooling, batching, errors."""

import json
import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import embed
from softspread.embedding.encoders.registry import find_encoder
from softspread.embedding.preparation import Preparation, prepare
from softspread.errors import InputError

KINDS = ["clip", "vit", "dinov2", "resnet"]


def raw(source, encoder, **options):
    return embed(source, encoder=str(encoder), reduce="none", **options)


@pytest.mark.parametrize("kind", KINDS)
def test_every_image_model_gives_one_finite_row_an_image(kind, image_models, pictures):
    """A folder of each architecture loads and encodes."""
    folder, n_features = image_models[kind]
    space = raw(pictures, folder)
    assert space.X.shape == (len(pictures), n_features)
    assert space.X.dtype == np.float32
    assert np.isfinite(space.X).all()
    assert (
        np.linalg.norm(space.X - space.X.mean(axis=0), axis=1).min() > 1e-6
    )  # different images, different rows


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_a_batch_changes_nothing(kind, image_models, pictures):
    """One image at a time and all at once agree."""
    folder, _ = image_models[kind]
    assert_allclose(
        raw(pictures, folder, batch_size=1).X, raw(pictures, folder, batch_size=32).X, rtol=0, atol=1e-5
    )


def test_batches_side_by_side_change_nothing_and_threads_are_put_back(torch, clip_folder, pictures):
    """One thread or four: the same features; torch's number of threads is as before."""
    before = torch.get_num_threads()
    one, four = (raw(pictures, clip_folder, batch_size=3, n_jobs=n_jobs).X for n_jobs in (1, 4))
    assert (one == four).all()
    assert torch.get_num_threads() == before
    with pytest.raises(InputError):
        raw([*pictures, np.full((4, 4), np.nan)], clip_folder)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("kind", KINDS)
def test_two_runs_agree_bit_by_bit(kind, image_models, pictures):
    """The model is in evaluation mode and nothing is drawn."""
    folder, _ = image_models[kind]
    assert (raw(pictures, folder).X == raw(pictures, folder).X).all()


def test_clip_features_are_the_models_own(torch, clip_folder, pictures):
    """Our pixels through transformers' own call give our features."""
    from transformers import CLIPModel

    encoder = find_encoder(str(clip_folder))
    model = CLIPModel.from_pretrained(clip_folder).eval()
    pixels = np.stack([prepare(picture, encoder.preparation, encoder.resize) for picture in pictures])
    with torch.inference_mode():
        values = torch.from_numpy(encoder.preparation.normalize(pixels))
        found = model.visual_projection(model.vision_model(pixel_values=values).pooler_output).numpy()
    assert_allclose(raw(pictures, clip_folder).X, found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("resample", [2, 3])
@pytest.mark.parametrize("edge", [None, 32])
def test_resizing_by_torch_is_resizing_by_pillow(resample, edge, clip_folder):
    """Up, down, squeezed and cropped: one shade apart at most, in pure noise a few."""
    encoder = find_encoder(str(clip_folder))
    wanted = Preparation(32, 32, shortest_edge=edge, resample=resample)
    rng = np.random.default_rng(0)
    for shape in ((300, 200, 3), (20, 30, 3), (33, 32, 3), (500, 4, 3)):
        noise = rng.integers(0, 256, size=shape, dtype=np.uint8)
        soft = np.add.outer(np.linspace(0, 200, shape[0]), np.linspace(0, 55, shape[1])).astype(np.uint8)
        for image, most in ((noise, 3), (soft, 1)):
            apart = prepare(image, wanted, encoder.resize).astype(int) - prepare(image, wanted)
            assert np.abs(apart).max() <= most


def test_a_class_token_is_used_where_there_is_one(torch, image_models, pictures):
    """ViT answers with its class token, whose pooler our weights do not even have."""
    from transformers import ViTForImageClassification

    folder, _ = image_models["vit"]
    encoder = find_encoder(str(folder))
    model = ViTForImageClassification.from_pretrained(folder).eval().vit
    pixels = np.stack([prepare(picture, encoder.preparation, encoder.resize) for picture in pictures[:4]])
    with torch.inference_mode():
        states = model(pixel_values=torch.from_numpy(encoder.preparation.normalize(pixels))).last_hidden_state
    assert_allclose(raw(pictures[:4], folder).X, states[:, 0].numpy(), rtol=1e-4, atol=1e-5)


def test_a_sentence_is_the_mean_of_its_tokens_at_length_1(torch, sentence_folder):
    """Padding does not count: alone or beside a longer text, the same vector."""
    texts = ["a red car", "a cat .", "an image of a blue ship and a red dog", "dog"]
    space = raw(texts, sentence_folder, batch_size=4)
    assert_allclose(np.linalg.norm(space.X, axis=1), 1, atol=1e-5)
    assert_allclose(space.X, raw(texts, sentence_folder, batch_size=1).X, rtol=0, atol=1e-5)

    from transformers import AutoTokenizer, BertModel

    tokens = AutoTokenizer.from_pretrained(sentence_folder)(texts[0], return_tensors="pt")
    with torch.inference_mode():
        states = (
            BertModel.from_pretrained(sentence_folder).eval()(**tokens).last_hidden_state[0].mean(0).numpy()
        )
    assert_allclose(space.X[0], states / np.linalg.norm(states), atol=1e-5)


def test_pooling_and_scaling_follow_the_folder(sentence_folder, tmp_path):
    """A sentence encoder that pools by its first token and does not normalise is obeyed."""
    folder = tmp_path / "other"
    shutil.copytree(sentence_folder, folder)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (folder / "modules.json").write_text(json.dumps([{"type": "models.Transformer"}]))
    mean, first = raw(["a cat"], sentence_folder).X, raw(["a cat"], folder).X
    assert abs(np.linalg.norm(first) - 1) > 1e-3
    assert np.abs(first / np.linalg.norm(first) - mean).max() > 1e-3


def test_a_text_longer_than_the_model_is_cut(sentence_folder):
    """No crash beyond the last position: words after the limit do not count."""
    long = " ".join(["cat dog"] * 50)
    assert_allclose(raw([long], sentence_folder).X, raw([long + " ship"], sentence_folder).X, atol=1e-6)


def test_siglip_sees_texts_as_long_as_in_training(torch, tmp_path, write_model, write_tokenizer):
    """It was trained on padded texts and reads its answer from the last position."""
    from transformers import SiglipConfig, SiglipModel

    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = small | {"vocab_size": 15, "max_position_embeddings": 10, "pad_token_id": 0, "projection_size": 16}
    model = SiglipModel(
        SiglipConfig(text_config=text, vision_config=small | {"image_size": 32, "patch_size": 8})
    )
    square = {"size": {"height": 32, "width": 32}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    folder = write_model(tmp_path, model, square)
    write_tokenizer(folder, 10)
    encoder = find_encoder(str(folder))
    seen = []
    encoder._model.text_model.embeddings.register_forward_hook(
        lambda module, given, out: seen.append(out.shape[1])
    )
    assert encoder.encode_texts(["a cat"]).shape == (1, 16)
    assert seen == [10]
    assert encoder.encode_images(np.zeros((2, 3, 32, 32), dtype=np.uint8)).shape == (2, 16)


def test_clip_takes_a_column_of_text_too(clip_folder):
    """A column named text goes through the text side."""
    import pandas as pd

    space = raw(pd.DataFrame({"text": ["a cat", "a dog"], "item": ["x", "y"]}), clip_folder)
    assert space.how["kind"] == "text"
    assert space.item_ids.tolist() == ["x", "y"]


def test_a_model_without_its_tokenizer_is_refused(clip_folder, tmp_path):
    """Rather than text cut up by a made-up one."""
    shutil.copytree(clip_folder, tmp_path / "mute", ignore=shutil.ignore_patterns("tokenizer*"))
    with pytest.raises(InputError, match=r"no tokenizer \(tokenizer\.json"):
        find_encoder(str(tmp_path / "mute")).encode_texts(["a cat"])


def test_weights_that_lack_a_layer_are_refused(torch, image_models, tmp_path):
    """A model that would be filled up with random numbers is an error, not an embedding."""
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "cut"
    shutil.copytree(image_models["dinov2"][0], folder)
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if "attention" in name)
    save_file(
        {k: v for k, v in weights.items() if k != lost},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(InputError, match="lack 1 part"):
        find_encoder(str(folder))


def test_a_damaged_weight_file_is_explained(torch, image_models, tmp_path):
    """Half a download is not a traceback."""
    folder = tmp_path / "cut"
    shutil.copytree(image_models["vit"][0], folder)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot load the model"):
        find_encoder(str(folder))


def test_half_precision_and_devices_are_checked(torch, clip_folder, pictures):
    """Half precision off CUDA and devices that are not there are refused with the way out."""
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(InputError, match="half precision is for CUDA"):
        raw(pictures, clip_folder, half=True)
    with pytest.raises(InputError, match="not available"):
        raw(pictures, clip_folder, device="cuda")
    with pytest.raises(InputError, match="unknown"):
        raw(pictures, clip_folder, device="toaster")
    assert raw(pictures[:2], clip_folder, device="cpu").how["encoder_settings"]["half"] is False
