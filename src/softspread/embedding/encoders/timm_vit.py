"""Vision transformers as timm publishes them on the Hugging Face hub: ImageNet-1k's ViT-B/32 is one.

    config.json: architecture vit_*, pretrained_cfg (size, crop, mean, std);  model.safetensors: timm's names

    x = [class token, patches] + positions;   x += attention(norm(x)), x += mlp(norm(x)), ...;   norm(x)

transformers has no ViT-B/32 that was trained on ImageNet-1k alone, and timm is not needed to run one.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from softspread.embedding.preparation import BICUBIC, BILINEAR, Preparation
from softspread.errors import InputError

HEAD_SIZE = 64  # of all of timm's plain vision transformers: tiny, small, base, large
EPSILON = 1e-6  # of their layer normalisation
HEAD = "head."  # the classifier, which features do not pass through
RESAMPLE = {"bicubic": BICUBIC, "bilinear": BILINEAR}


def timm_settings(folder: Path) -> dict[str, Any] | None:
    """The content of config.json where it is timm's, else None."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return (
        found if isinstance(found, dict) and "pretrained_cfg" in found and "architecture" in found else None
    )


def timm_preparation(settings: dict[str, Any]) -> Preparation:
    """How timm prepares images: the shorter side to size / crop_pct, then the centre."""
    about = settings["pretrained_cfg"]
    try:
        _, height, width = about["input_size"]
        edge = int(height / float(about.get("crop_pct") or 1))
        mean, std = (tuple(map(float, about[name])) for name in ("mean", "std"))
        return Preparation(height, width, edge, mean, std, RESAMPLE[about.get("interpolation", "bicubic")])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"pretrained_cfg of the model says nothing usable about images ({error!r})."
        ) from error


def load_timm_vit(folder: Path, settings: dict[str, Any]) -> Any:
    """The model with its weights; parts that are missing or left over are an error."""
    name = str(settings["architecture"])
    if not name.startswith("vit_"):
        raise InputError(f"{folder} holds timm's {name}; of timm's models only plain vit_* can be read.")
    weights = {key: value for key, value in _read_weights(folder).items() if not key.startswith(HEAD)}
    try:
        width, _, patch, _ = weights["patch_embed.proj.weight"].shape
        depth = 1 + max(int(key.split(".")[1]) for key in weights if key.startswith("blocks."))
        model = _network(
            width, patch, weights["pos_embed"].shape[1], depth, weights["blocks.0.mlp.fc1.bias"].shape[0]
        )
        model.load_state_dict(weights)
    except (KeyError, ValueError, RuntimeError) as error:
        problem = str(error).strip().splitlines()[-1].strip()
        raise InputError(f"the weights in {folder} are not those of a plain {name}: {problem}") from error
    return model


def _read_weights(folder: Path) -> dict[str, Any]:
    import torch

    if (folder / "model.safetensors").is_file():
        from safetensors.torch import load_file

        return dict(load_file(folder / "model.safetensors"))
    return dict(torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True))


def _network(width: int, patch: int, n_positions: int, depth: int, hidden: int) -> Any:
    """The module, with parameters named as timm's are."""
    import torch
    from torch import nn

    n_heads = max(1, width // HEAD_SIZE)

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            n, tokens, _ = x.shape
            q, k, v = self.qkv(x).reshape(n, tokens, 3, n_heads, width // n_heads).permute(2, 0, 3, 1, 4)
            found = nn.functional.scaled_dot_product_attention(q, k, v)
            return self.proj(found.transpose(1, 2).reshape(n, tokens, width))

    class Perceptron(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

        def forward(self, x: Any) -> Any:
            return self.fc2(nn.functional.gelu(self.fc1(x)))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = (nn.LayerNorm(width, eps=EPSILON) for _ in range(2))
            self.attn, self.mlp = Attention(), Perceptron()

        def forward(self, x: Any) -> Any:
            x = x + self.attn(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class TimmVit(nn.Module):
        main_input_name = "pixel_values"

        def __init__(self) -> None:
            super().__init__()
            self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
            self.pos_embed = nn.Parameter(torch.zeros(1, n_positions, width))
            self.patch_embed = nn.Module()
            self.patch_embed.proj = nn.Conv2d(3, width, patch, stride=patch)
            self.blocks = nn.Sequential(*(Block() for _ in range(depth)))
            self.norm = nn.LayerNorm(width, eps=EPSILON)

        def forward(self, pixel_values: Any) -> Any:
            projected: Any = self.patch_embed.proj
            patches = projected(pixel_values).flatten(2).transpose(1, 2)
            x = torch.cat([self.cls_token.expand(len(patches), -1, -1), patches], dim=1) + self.pos_embed
            return SimpleNamespace(last_hidden_state=self.norm(self.blocks(x)))

    return TimmVit()
