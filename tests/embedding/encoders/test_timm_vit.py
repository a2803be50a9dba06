"""timm's vision transformers, without timm: the same features as PyTorch's own encoder layers give."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from small_models import save_timm_vit
from softspread.embedding.embed import embed
from softspread.embedding.encoders.registry import find_encoder
from softspread.embedding.encoders.timm_vit import timm_preparation
from softspread.errors import InputError

WIDTH, PATCH, SIZE, DEPTH = 128, 8, 32, 2


@pytest.fixture
def vit(torch, tmp_path):
    folder = tmp_path / "vit"
    return folder, save_timm_vit(folder, WIDTH, PATCH, SIZE, DEPTH)


def test_features_are_those_of_pytorchs_own_layers(torch, vit):
    """Two heads, layers that normalise first, the class token after the last normalisation."""
    folder, weights = vit
    layers = []
    for number in range(DEPTH):
        layer = torch.nn.TransformerEncoderLayer(
            WIDTH, 2, 4 * WIDTH, 0.0, torch.nn.functional.gelu, 1e-6, batch_first=True, norm_first=True
        )
        own = {key.removeprefix(f"blocks.{number}."): value for key, value in weights.items()}
        names = {
            "self_attn.in_proj_": "attn.qkv.",
            "self_attn.out_proj.": "attn.proj.",
            "linear1.": "mlp.fc1.",
            "linear2.": "mlp.fc2.",
            "norm1.": "norm1.",
            "norm2.": "norm2.",
        }
        parts = {
            f"{theirs}{kind}": own[f"{ours}{kind}"]
            for theirs, ours in names.items()
            for kind in ("weight", "bias")
        }
        layer.load_state_dict(parts)
        layers.append(layer.eval())
    pixels = np.random.default_rng(0).integers(256, size=(3, 3, SIZE, SIZE), dtype=np.uint8)
    with torch.no_grad():
        x = torch.from_numpy(pixels).float() / 255 * 2 - 1
        kernel = weights["patch_embed.proj.weight"], weights["patch_embed.proj.bias"]
        patches = torch.nn.functional.conv2d(x, *kernel, stride=PATCH).flatten(2).transpose(1, 2)
        x = torch.cat([weights["cls_token"].expand(3, -1, -1), patches], 1) + weights["pos_embed"]
        for layer in layers:
            x = layer(x)
        final = torch.nn.functional.layer_norm(
            x, (WIDTH,), weights["norm.weight"], weights["norm.bias"], 1e-6
        )
    encoder = find_encoder(str(folder), device="cpu")
    assert_allclose(encoder.encode_images(pixels), final[:, 0].numpy(), atol=1e-5)


def test_images_are_prepared_as_timm_does(vit):
    """The shorter side to size / crop_pct, then the centre; another interpolation is read, too."""
    folder, _ = vit
    settings = json.loads((folder / "config.json").read_text())
    found = timm_preparation(settings)
    assert (found.height, found.width, found.shortest_edge) == (SIZE, SIZE, int(SIZE / 0.9))
    assert found.mean == (0.5, 0.5, 0.5)
    settings["pretrained_cfg"]["interpolation"] = "bilinear"
    assert timm_preparation(settings).resample == 2
    del settings["pretrained_cfg"]["mean"]
    with pytest.raises(InputError, match="nothing usable"):
        timm_preparation(settings)


def test_a_folder_embeds_images(vit, pictures):
    """From files to rows, through the ordinary command."""
    assert embed(pictures, encoder=str(vit[0]), reduce="none").X.shape == (len(pictures), WIDTH)


def test_other_architectures_and_other_weights_are_refused(torch, vit):
    """What is missing is named; a network of another kind is not guessed at."""
    folder, weights = vit
    from safetensors.torch import save_file

    save_file(
        {key: value for key, value in weights.items() if key != "norm.bias"}, folder / "model.safetensors"
    )
    with pytest.raises(InputError, match=r"norm\.bias"):
        find_encoder(str(folder), device="cpu")
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"architecture": "resnet50"}))
    with pytest.raises(InputError, match="only plain vit"):
        find_encoder(str(folder), device="cpu")
