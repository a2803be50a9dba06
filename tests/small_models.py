"""Tiny, randomly initialised models of the real architectures, written to disk as Hugging Face writes
them."""

import json
import os

import numpy as np
import pytest

IMAGE_SIZE, PATCH = 32, 8
MEAN, STD = [0.48, 0.46, 0.41], [0.27, 0.26, 0.28]
WORDS = [
    "<pad>",
    "<unk>",
    "<s>",
    "</s>",
    "an",
    "image",
    "of",
    "a",
    "cat",
    "dog",
    "ship",
    "red",
    "blue",
    "car",
    ".",
]
CLIP_PREPARATION = {
    "image_processor_type": "CLIPImageProcessor",
    "size": {"shortest_edge": IMAGE_SIZE},
    "crop_size": {"height": IMAGE_SIZE, "width": IMAGE_SIZE},
    "do_center_crop": True,
    "resample": 3,
    "image_mean": MEAN,
    "image_std": STD,
}


@pytest.fixture(scope="session")
def torch():
    """PyTorch with transformers, or the test is skipped."""
    pytest.importorskip("transformers", reason="needs softspread[embed]")
    return pytest.importorskip("torch", reason="needs softspread[embed]")


def save_model(folder, model, preparation=None):
    """Weights and settings as from_pretrained reads them."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    model.save_pretrained(folder)
    if preparation is not None:
        (folder / "preprocessor_config.json").write_text(json.dumps(preparation))
    return folder


def save_tokenizer(folder, length):
    """A tokenizer that splits at spaces and knows a dozen words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)]
    )
    special = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=length, **special).save_pretrained(
        folder
    )
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **special})
    )


def save_timm_vit(folder, width=128, patch=8, size=32, depth=2, seed=0):
    """A vision transformer with timm's names and settings; its weights."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    shapes = {
        "cls_token": (1, 1, width),
        "pos_embed": (1, (size // patch) ** 2 + 1, width),
        "patch_embed.proj.weight": (width, 3, patch, patch),
        "patch_embed.proj.bias": (width,),
    }
    for number in range(depth):
        linear = {"attn.qkv": (3 * width, width), "attn.proj": (width, width)}
        linear |= {"mlp.fc1": (4 * width, width), "mlp.fc2": (width, 4 * width)}
        for name, shape in linear.items():
            shapes |= {f"blocks.{number}.{name}.weight": shape, f"blocks.{number}.{name}.bias": shape[:1]}
        for name in ("norm1", "norm2"):
            shapes |= {f"blocks.{number}.{name}.{kind}": (width,) for kind in ("weight", "bias")}
    shapes |= {"norm.weight": (width,), "norm.bias": (width,), "head.weight": (5, width), "head.bias": (5,)}
    weights = {name: 0.1 * torch.randn(shape) for name, shape in shapes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors")
    about = {"input_size": [3, size, size], "interpolation": "bicubic", "crop_pct": 0.9}
    about |= {"mean": [0.5] * 3, "std": [0.5] * 3}
    settings = {"architecture": "vit_base_patch32_224", "num_features": width, "pretrained_cfg": about}
    (folder / "config.json").write_text(json.dumps(settings))
    return weights


@pytest.fixture(scope="session")
def write_model():
    """Puts a model into a folder."""
    return save_model


@pytest.fixture(scope="session")
def write_tokenizer():
    """Puts a tokenizer into a folder."""
    return save_tokenizer


@pytest.fixture(scope="session")
def clip_folder(torch, tmp_path_factory):
    """CLIP with two layers on each side."""
    from transformers import CLIPConfig, CLIPModel

    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision = small | {"image_size": IMAGE_SIZE, "patch_size": PATCH, "projection_dim": 12}
    ids = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    text = small | ids | {"vocab_size": len(WORDS), "max_position_embeddings": 16, "projection_dim": 12}
    torch.manual_seed(0)
    model = CLIPModel(
        CLIPConfig(vision_config=vision, text_config=text, projection_dim=12, initializer_factor=8.0)
    )
    folder = save_model(tmp_path_factory.mktemp("clip"), model, CLIP_PREPARATION)
    save_tokenizer(folder, 16)
    return folder


@pytest.fixture(scope="session")
def image_models(torch, clip_folder, tmp_path_factory):
    """Folder and number of features of each kind of image model."""
    from transformers import (
        Dinov2Config,
        Dinov2Model,
        ResNetConfig,
        ResNetModel,
        ViTConfig,
        ViTForImageClassification,
    )

    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    square = {
        "image_processor_type": "ViTImageProcessor",
        "size": {"height": IMAGE_SIZE, "width": IMAGE_SIZE},
        "resample": 2,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    old_style = {
        "feature_extractor_type": "ConvNextFeatureExtractor",
        "size": IMAGE_SIZE,
        "crop_pct": 0.875,
        "resample": 3,
        "image_mean": MEAN,
        "image_std": STD,
    }
    cropped = CLIP_PREPARATION | {"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 40}}
    vit = ViTConfig(image_size=IMAGE_SIZE, patch_size=PATCH, intermediate_size=32, num_labels=3, **small)
    dino = Dinov2Config(image_size=IMAGE_SIZE, patch_size=PATCH, mlp_ratio=2, **small)
    resnet = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    make = tmp_path_factory.mktemp
    return {
        "clip": (clip_folder, 12),
        "vit": (save_model(make("vit"), ViTForImageClassification(vit), square), 16),
        "dinov2": (save_model(make("dinov2"), Dinov2Model(dino), cropped), 16),
        "resnet": (save_model(make("resnet"), ResNetModel(resnet), old_style), 16),
    }


@pytest.fixture(scope="session")
def sentence_folder(torch, tmp_path_factory):
    """A BERT with two layers, arranged as sentence-transformers does."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    torch.manual_seed(0)
    folder = save_model(tmp_path_factory.mktemp("sentence"), BertModel(config))
    save_tokenizer(folder, 1000)
    (folder / "modules.json").write_text(
        json.dumps([{"type": "models.Transformer"}, {"type": "models.Normalize"}])
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 12}))
    return folder


@pytest.fixture(scope="session")
def pictures():
    """Smooth random pictures of different shapes."""
    rng = np.random.default_rng(1)
    shapes = [(40, 60), (60, 40), (32, 32), (48, 48), (200, 90), (33, 70)]
    found = []
    for number in range(20):
        height, width = shapes[number % len(shapes)]
        coarse = rng.random((5, 5, 3))
        rows = np.linspace(0, 4, height).astype(int)
        columns = np.linspace(0, 4, width).astype(int)
        found.append((255 * coarse[np.ix_(rows, columns)]).astype(np.uint8))
    return found


@pytest.fixture
def picture_folder(pictures, tmp_path):
    """The pictures as PNG files in two folders, with names that are not plain ASCII."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    home = tmp_path / "Bilder"
    for number, picture in enumerate(pictures):
        folder = home / ("Äpfel" if number % 2 else "東京")
        os.makedirs(folder, exist_ok=True)
        image.fromarray(picture).save(folder / f"bild {number:02d} ß.png")
    (home / "notes.txt").write_text("not a picture")
    return home
