"""Reading and preparing images, against one image at a time.

A tiny CLIP is used so that the model hardly counts.

`python -m benchmarks.bench_embedding`; needs softspread[embed].

One at a time, as a script does it: open, resize, crop, to a tensor, encode, next. Ours: the public call,
without cache. Both use the same model, torch on one thread (one at a time is fastest so); they take turns,
and medians are compared.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._common import (
    ROOT,
    Record,
    Report,
    Settings,
    median,
    open_report,
    say,
    show_table,
    show_targets,
)

SMALLEST_RATIO = 4.0  # times faster than one at a time
LARGEST_MEMORY = 1.0  # GiB for 10,000 images, the whole process
MODEL_SIZE = 224  # pixels, as CLIP takes them
TURNS = 3
MANY = 10_000
# name -> (width, height), ending, how many
SETS = {
    "small png": ((32, 32), ".png", 600),
    "web jpeg": ((500, 375), ".jpg", 300),
    "photo jpeg": ((2048, 1536), ".jpg", 60),
}


def run(settings: Settings, folder: Path, report: Report) -> None:
    """Measure speed on three kinds of images and memory on many."""
    say("embedding: a tiny CLIP and files to read")
    model = write_tiny_clip(folder / "model")
    rows = []
    for name, (size, ending, n) in SETS.items():
        home = write_images(folder / name.replace(" ", "_"), size, ending, n, settings.seed)
        found = _task("speed", str(home), str(model))
        slow, fast = median(found["one_at_a_time"]), median(found["ours"])
        ratio = slow / fast
        work = median(found["one_at_a_time_cpu"]) / median(found["ours_cpu"])
        report.add(bench="embedding", what=name, n=n, ratio=ratio, cpu_ratio=work, **found)
        report.judge(f"{name}: times faster than one at a time", ratio, SMALLEST_RATIO, at_least=True)
        figures = (
            f"{n / slow:.0f}",
            f"{n / fast:.0f}",
            f"{ratio:.1f}",
            f"{work:.1f}",
            f"{found['apart']:.1e}",
        )
        rows.append((name, f"{size[0]} x {size[1]}", *figures))
    say("\nImages a second (medians of turns)")
    show_table(
        ("images", "size", "one at a time", "ours", "ratio", "ratio of processor time", "features apart"),
        rows,
    )
    home = write_images(folder / "many", *SETS["web jpeg"][:2], MANY, settings.seed, copies=True)
    sizes = {n: _task("memory", str(home), str(model), str(n)) for n in (MANY // 10, MANY)}
    for n, found in sizes.items():
        report.add(bench="embedding_memory", n=n, **found)
        say(f"  {n:,} images: {found['gib']:.2f} GiB at most, {found['seconds']:.0f} s")
    report.judge("memory of 10,000 images, GiB", sizes[MANY]["gib"], LARGEST_MEMORY)


def write_tiny_clip(folder: Path) -> Path:
    """CLIP with 224-pixel images, patches of 32 and two narrow layers."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision = small | {"image_size": MODEL_SIZE, "patch_size": 32, "projection_dim": 16}
    text = small | {"vocab_size": 99, "max_position_embeddings": 8, "bos_token_id": 1, "eos_token_id": 2}
    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    CLIPModel(CLIPConfig(vision_config=vision, text_config=text, projection_dim=16)).save_pretrained(folder)
    settings = {
        "size": {"shortest_edge": MODEL_SIZE},
        "crop_size": {"height": MODEL_SIZE, "width": MODEL_SIZE},
        "do_center_crop": True,
        "resample": 3,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


def write_images(
    folder: Path, size: tuple[int, int], ending: str, n: int, seed: int, *, copies: bool = False
) -> Path:
    """Pictures with soft shapes and some grain, so that they compress like photographs."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    first: list[bytes] = []
    for number in range(n):
        path = folder / f"{number:05d}{ending}"
        if copies and number >= 50:
            path.write_bytes(first[number % 50])
            continue
        coarse = Image.fromarray(rng.integers(0, 256, size=(12, 16, 3), dtype=np.uint8)).resize(
            size, Image.Resampling.BICUBIC
        )
        grain = rng.normal(0, 6, size=(size[1], size[0], 1))
        Image.fromarray(np.clip(np.asarray(coarse) + grain, 0, 255).astype(np.uint8)).save(path, quality=90)
        first.append(path.read_bytes())
    return folder


def one_at_a_time(paths: list[Path], folder: Path) -> Any:
    """A plain script: each image is opened, prepared and encoded before the next."""
    import numpy as np
    import torch
    from PIL import Image
    from transformers import CLIPModel

    model = CLIPModel.from_pretrained(folder).eval()
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    mean, std = (torch.tensor(settings[key]).view(3, 1, 1) for key in ("image_mean", "image_std"))
    rows = []
    begin, used = time.perf_counter(), time.process_time()
    with torch.no_grad():
        for path in paths:
            image = Image.open(path)
            scale = MODEL_SIZE / min(image.size)
            wide, high = (int(side * scale) for side in image.size)
            image = image.resize((max(wide, MODEL_SIZE), max(high, MODEL_SIZE)), Image.Resampling.BICUBIC)
            left, top = (image.width - MODEL_SIZE) // 2, (image.height - MODEL_SIZE) // 2
            image = image.crop((left, top, left + MODEL_SIZE, top + MODEL_SIZE)).convert("RGB")
            values = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float().div(255)
            found = model.get_image_features(pixel_values=((values - mean) / std).unsqueeze(0))
            rows.append(getattr(found, "pooler_output", found).numpy())
    return np.concatenate(rows), time.perf_counter() - begin, time.process_time() - used


def ours(paths: list[Path], encoder: Any) -> Any:
    """The inner call behind :func:`softspread.embed`, with the model loaded, as for the other side."""
    from softspread.embedding.embed import EncodingOptions, encode_items
    from softspread.embedding.items import find_items

    begin, used = time.perf_counter(), time.process_time()
    items = find_items([str(path) for path in paths], ("image",))
    found = encode_items(items, encoder, EncodingOptions())
    return found.F, time.perf_counter() - begin, time.process_time() - used


def measure_speed(home: str, model: str) -> Record:
    """Both in turn, in this process."""
    import numpy as np
    import torch

    from softspread.embedding.encoders.registry import find_encoder

    torch.set_num_threads(1)  # best for single tiny images: more threads only wait for each other
    paths = sorted(Path(home).iterdir())
    encoder = find_encoder(model)
    times: dict[str, list[float]] = {"one_at_a_time": [], "ours": [], "one_at_a_time_cpu": [], "ours_cpu": []}
    one_at_a_time(paths[:20], Path(model))
    ours(paths[:40], encoder)
    for _ in range(TURNS):
        slow, took, used = one_at_a_time(paths, Path(model))
        times["one_at_a_time"].append(took)
        times["one_at_a_time_cpu"].append(used)
        fast, took, used = ours(paths, encoder)
        times["ours"].append(took)
        times["ours_cpu"].append(used)
    return {**times, "apart": float(np.abs(slow - fast).max() / np.abs(slow).max())}


def measure_memory(home: str, model: str, n: str) -> Record:
    """The public call on many images; the largest memory of the process."""
    from softspread.embedding.embed import embed

    paths = sorted(map(str, Path(home).iterdir()))[: int(n)]
    begin = time.perf_counter()
    space = embed(paths, encoder=model, reduce="none")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"gib": peak, "seconds": time.perf_counter() - begin, "shape": list(space.X.shape)}


def _task(name: str, *arguments: str) -> Record:
    command = [sys.executable, "-m", "benchmarks.bench_embedding", name, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"benchmark task {name} failed:\n{done.stderr}")
    record: Record = json.loads(done.stdout.strip().splitlines()[-1])
    return record


def main() -> None:
    tasks = {"speed": measure_speed, "memory": measure_memory}
    if len(sys.argv) > 1 and sys.argv[1] in tasks:
        print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
        return
    report = open_report(Settings(), Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    with tempfile.TemporaryDirectory(prefix="softspread-bench-") as folder:
        run(Settings(), Path(folder), report)
    show_targets(report)


if __name__ == "__main__":
    main()
