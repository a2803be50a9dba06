"""Every dataset of the paper in its original format, tiny, and the models to prepare it with."""

import numpy as np
import pytest

from datasets_on_disk import (
    write_dcic,
    write_idx,
    write_image,
    write_python_batch,
    write_raw_votes,
    write_signs,
)
from small_models import (
    CLIP_PREPARATION,
    IMAGE_SIZE,
    PATCH,
    WORDS,
    save_model,
    save_timm_vit,
    save_tokenizer,
)
from softspread.datasets.animals10 import ITALIAN

N_EACH = 3  # images per class: one for each fold


def write_data(data, rng):
    """A folder as a researcher has it after downloading and unpacking; labels can be seen in the images."""
    write_cifar(data, rng)
    labels = np.tile(np.arange(10), N_EACH)
    digits = np.full((len(labels), 28, 28), 25) * labels[:, None, None]
    home = data / "emnist_digits" / "EMNIST" / "raw"
    write_idx(home / "emnist-digits-train-images-idx3-ubyte", digits)
    write_idx(home / "emnist-digits-train-labels-idx1-ubyte", labels)
    for part in ("train", "t10k"):
        write_idx(data / "mnist" / f"{part}-images-idx3-ubyte.gz", digits)
        write_idx(data / "mnist" / f"{part}-labels-idx1-ubyte.gz", labels)
    for column, name in enumerate(ITALIAN):
        for number in range(N_EACH):
            write_image(data / "animals10" / "raw-img" / name / f"{number}.jpeg", 25 * column)
    tiny = data / "tiny_imagenet" / "tiny-imagenet-200"
    for column, code in enumerate(("n01", "n02", "n03")):
        for number in range(8):
            write_image(tiny / "train" / code / "images" / f"{code}_{number}.JPEG", 80 * column)
    (tiny / "wnids.txt").write_text("n02\nn01\nn03\n")
    (tiny / "words.txt").write_text("n01\tcat, kitty\nn02\tdog\nn03\tship\n")
    signs = [("regulatory--stop--g1", (2, 2, 20, 20)), ("warning--bend--g1", (22, 2, 40, 20))]
    write_signs(data / "mtsd", {f"photo{number}": signs for number in range(12)})
    write_dcic(data / "dcic", "Toy")
    return data


def write_cifar(data, rng):
    """CIFAR-10 in its Python version; CIFAR-10-H with single votes on its test images."""
    home = data / "cifar10" / "cifar-10-batches-py"
    for number in range(1, 6):
        write_python_batch(home / f"data_batch_{number}", list(range(10)), rng)
    write_python_batch(home / "test_batch", list(range(10)) * N_EACH, rng)
    people = range(12)
    votes = [(p, item, item % 10 if rng.random() < 0.8 else 3) for p in people for item in range(30)]
    write_raw_votes(data / "cifar10h" / "cifar10h-raw.zip", votes)


def write_models(models):
    """Tiny CLIP, ResNet, ViT and EfficientNet with random weights."""
    torch = pytest.importorskip("torch", reason="needs softspread[embed]")
    transformers = pytest.importorskip("transformers", reason="needs softspread[embed]")
    torch.manual_seed(0)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    vision = small | {"image_size": IMAGE_SIZE, "patch_size": PATCH, "projection_dim": 12}
    ids = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    text = small | ids | {"vocab_size": len(WORDS), "max_position_embeddings": 16, "projection_dim": 12}
    config = transformers.CLIPConfig(vision_config=vision, text_config=text, projection_dim=12)
    save_model(models / "clip", transformers.CLIPModel(config), CLIP_PREPARATION)
    save_tokenizer(models / "clip", 16)
    resnet = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"
    )
    save_model(models / "resnet", transformers.ResNetModel(resnet), CLIP_PREPARATION)
    save_timm_vit(models / "vit", width=64)
    efficient = transformers.EfficientNetConfig(
        image_size=32, width_coefficient=0.1, depth_coefficient=0.1, hidden_dim=128, num_labels=5
    )
    save_model(models / "efficientnet", transformers.EfficientNetForImageClassification(efficient))
    return models
