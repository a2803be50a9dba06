"""Small datasets in the formats in which the real ones are distributed."""

import gzip

import numpy as np
import pytest


def write_batch(path, labels, rng):
    """Records of one label and three planes of bytes, as the binary version has them."""
    images = rng.integers(256, size=(len(labels), 32, 32, 3), dtype=np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(len(labels), -1)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.concatenate([np.asarray(labels, dtype=np.uint8)[:, None], planes], axis=1).tofile(path)
    return images


def write_idx(path, array):
    """Magic number, big-endian sizes, bytes; packed if the name ends so."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    raw = head + array.astype(np.uint8).tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def write_image(path, value=0, size=(6, 5)):
    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((*size, 3), value, dtype=np.uint8)).save(path)


def python2_string(raw):
    """A string as Python 2 pickles it."""
    return b"U" + bytes([len(raw)]) + raw if len(raw) < 256 else b"T" + len(raw).to_bytes(4, "little") + raw


def write_python_batch(path, labels, rng):
    """A batch of the Python version, opcode by opcode as Python 2 with an old NumPy wrote it."""
    images = rng.integers(256, size=(len(labels), 32, 32, 3), dtype=np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(len(labels), -1)
    number = [b"J" + int(value).to_bytes(4, "little", signed=True) for value in (*planes.shape, -1)]
    dtype = b"cnumpy\ndtype\n" + python2_string(b"u1") + b"K\x00K\x01\x87R"
    dtype += b"(K\x03" + python2_string(b"|") + b"NNN" + number[2] * 2 + b"K\x00tb"
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + python2_string(b"b") + b"\x87R"
    )
    array += (
        b"(K\x01"
        + number[0]
        + number[1]
        + b"\x86"
        + dtype
        + b"\x89"
        + python2_string(planes.tobytes())
        + b"tb"
    )
    classes = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    entries = (
        (b"batch_label", python2_string(b"testing batch 1 of 1")),
        (b"labels", classes),
        (b"data", array),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x80\x02}(" + b"".join(python2_string(key) + value for key, value in entries) + b"u.")
    return images


RAW_COLUMNS = "annotator_id,trial_index,is_attn_check,chosen_label,cifar10_test_test_idx,reaction_time"


def write_raw_votes(path, votes):
    """cifar10h-raw.zip with (annotator, image, class), and one attention check of each annotator."""
    import zipfile

    people = dict.fromkeys(person for person, _, _ in votes)
    lines = [RAW_COLUMNS] + [f"{person},0,0,{label},{item},1.5" for person, item, label in votes]
    lines += [f"{person},1,1,3,-99999,1.5" for person in people]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cifar10h-raw.csv", "\n".join(lines) + "\n")
        archive.writestr("__MACOSX/._cifar10h-raw.csv", "nothing")


def write_signs(folder, photographs, size=(40, 60)):
    """Mapillary's layout; photographs: key -> [(label, box)]; the sign in row r of all has the grey 10 r."""
    import json

    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    row = 0
    for key, signs in photographs.items():
        pixels = np.full((*size, 3), 255, dtype=np.uint8)
        objects = []
        for label, (left, top, right, bottom) in signs:
            pixels[top:bottom, left:right] = 10 * row
            row += 1
            corners = {"xmin": left, "ymin": top, "xmax": right, "ymax": bottom}
            objects.append({"key": f"{key}-{row}", "label": label, "bbox": corners, "properties": {}})
        for name in ("images", "annotations", "splits"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / "images" / f"{key}.png")
        document = {"width": size[1], "height": size[0], "ispano": False, "objects": objects}
        (folder / "annotations" / f"{key}.json").write_text(json.dumps(document))
    (folder / "splits" / "train.txt").write_text("\n".join(photographs))


def write_dcic(root, name="Toy", per_fold=8, side=6, seed=0):
    """A dataset of the DCIC benchmark: dark and light images, 5 annotations each, one of them empty."""
    import json

    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    rng = np.random.default_rng(seed)
    entries = []
    for fold in range(1, 6):
        for number in range(per_fold):
            label = number % 2
            path = root / "raw_datasets" / name / f"fold{fold}" / f"img-{fold}-{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = rng.integers(60, size=(side, side, 3)) + 180 * label
            Image.fromarray(pixels.astype(np.uint8)).save(path)
            votes = [label] * 4 + [1 - label if number == 0 else label]
            entries += [
                {
                    "image_path": path.relative_to(root / "raw_datasets").as_posix(),
                    "class_label": ["dark", "light"][vote],
                    "created_at": "01-01-2022-00-00-00",
                }
                for vote in votes
            ]
    entries.append({"image_path": entries[0]["image_path"], "class_label": None, "created_at": ""})
    about = {"name": "INVALID", "user_mail": "INVALID", "annotation_time": 1, "dataset_name": name}
    home = root / "raw_datasets" / name
    (home / "annotations.json").write_text(json.dumps([about | {"annotations": entries}]))
    return root
