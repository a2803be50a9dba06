"""ONNX graphs of images run by onnxruntime, in every layout that exporters write, without torch."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import embed
from softspread.embedding.encoders.registry import find_encoder
from softspread.embedding.preparation import IMAGENET_MEAN, IMAGENET_STD, prepare
from softspread.errors import InputError

pytest.importorskip("onnxruntime", reason="needs softspread[onnx]")
onnx = pytest.importorskip("onnx", reason="needs onnx to write a graph")
SIZE, FEATURES = 8, 5
ENTRIES = 3 * SIZE * SIZE


def write_graph(path, shape, kind=None, output="features", n_inputs=1):
    """One matrix product over the flattened image: features = image.ravel() @ M."""
    from onnx import TensorProto, helper, numpy_helper

    kind = TensorProto.FLOAT if kind is None else kind
    M = np.random.default_rng(0).normal(size=(ENTRIES, FEATURES)).astype(np.float32)
    names = ["image", "other"][:n_inputs]
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name in names]
    nodes = [
        helper.make_node("Cast", ["image"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["numbers"], ["flat"], axis=1),
        helper.make_node("MatMul", ["flat", "M"], [output]),
        helper.make_node("Identity", ["numbers"], ["copy"]),
    ]
    outputs = [
        helper.make_tensor_value_info("copy", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info(output, TensorProto.FLOAT, [shape[0], FEATURES]),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, [numpy_helper.from_array(M, "M")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return M


@pytest.mark.parametrize("batch", ["n", 1, 4])
def test_features_are_the_graphs_for_open_and_fixed_batches(batch, tmp_path, pictures):
    """A graph that takes only 4 images at a time is fed 4 at a time; the answer is the product by hand."""
    M = write_graph(tmp_path / "tiny.onnx", [batch, 3, SIZE, SIZE])
    X = embed(pictures, encoder=tmp_path / "tiny.onnx", reduce="none").X
    wanted = find_encoder(tmp_path / "tiny.onnx").preparation
    assert (wanted.mean, wanted.std) == (IMAGENET_MEAN, IMAGENET_STD)
    pixels = np.stack([prepare(picture, wanted) for picture in pictures])
    assert_allclose(X, wanted.normalize(pixels).reshape(len(pictures), -1) @ M, rtol=1e-3, atol=1e-3)
    assert_allclose(
        X, embed(pictures, encoder=tmp_path / "tiny.onnx", reduce="none", batch_size=1).X, atol=1e-5
    )


def test_channels_may_come_last(tmp_path, pictures):
    """(n, height, width, 3) as other frameworks export."""
    M = write_graph(tmp_path / "tiny.onnx", ["n", SIZE, SIZE, 3])
    encoder = find_encoder(tmp_path / "tiny.onnx")
    pixels = np.stack([prepare(picture, encoder.preparation) for picture in pictures])
    values = encoder.preparation.normalize(pixels).transpose(0, 2, 3, 1).reshape(len(pictures), -1)
    assert_allclose(encoder.encode_images(pixels), values @ M, rtol=1e-3, atol=1e-3)


def test_a_graph_of_bytes_gets_bytes(tmp_path, pictures):
    """Preparation inside the graph is left to it."""
    M = write_graph(tmp_path / "tiny.onnx", ["n", 3, SIZE, SIZE], onnx.TensorProto.UINT8)
    encoder = find_encoder(tmp_path / "tiny.onnx")
    pixels = np.stack([prepare(picture, encoder.preparation) for picture in pictures])
    assert_allclose(encoder.encode_images(pixels), pixels.reshape(20, -1).astype(np.float32) @ M, rtol=1e-4)


def test_preparation_beside_the_graph_is_used(tmp_path, pictures):
    """Also one folder up, where exporters put it; sizes that disagree are refused."""
    (tmp_path / "onnx").mkdir()
    write_graph(tmp_path / "onnx" / "tiny.onnx", ["n", 3, SIZE, SIZE])
    settings = {"size": {"height": SIZE, "width": SIZE}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    assert find_encoder(tmp_path / "onnx" / "tiny.onnx").preparation.mean == (0.5, 0.5, 0.5)
    (tmp_path / "preprocessor_config.json").write_text(
        json.dumps(settings | {"size": {"height": 9, "width": 9}})
    )
    with pytest.raises(InputError, match="make them agree"):
        find_encoder(tmp_path / "onnx" / "tiny.onnx")


def test_graphs_that_take_no_images_are_refused(tmp_path):
    """Missing, damaged, of other dimensions, with two inputs, of whole numbers."""
    with pytest.raises(InputError, match="no ONNX model"):
        find_encoder(tmp_path / "nothing.onnx")
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(InputError, match="cannot load"):
        find_encoder(tmp_path / "text.onnx")
    write_graph(tmp_path / "flat.onnx", ["n", ENTRIES])
    with pytest.raises(InputError, match="4 dimensions"):
        find_encoder(tmp_path / "flat.onnx")
    write_graph(tmp_path / "two.onnx", ["n", 3, SIZE, SIZE], n_inputs=2)
    with pytest.raises(InputError, match="one batch"):
        find_encoder(tmp_path / "two.onnx")
    write_graph(tmp_path / "whole.onnx", ["n", 3, SIZE, SIZE], onnx.TensorProto.INT64)
    with pytest.raises(InputError, match="int64"):
        find_encoder(tmp_path / "whole.onnx")
    write_graph(tmp_path / "fine.onnx", ["n", 3, SIZE, SIZE])
    with pytest.raises(InputError, match="takes images"):
        find_encoder(tmp_path / "fine.onnx").encode_texts(["a"])


def test_other_weights_are_another_encoder(tmp_path):
    """The cache tells them apart."""
    write_graph(tmp_path / "a.onnx", ["n", 3, SIZE, SIZE])
    write_graph(tmp_path / "b.onnx", ["n", 3, SIZE, SIZE], output="embeddings")
    assert find_encoder(tmp_path / "a.onnx").fingerprint != find_encoder(tmp_path / "b.onnx").fingerprint


def test_torch_is_not_needed(tmp_path):
    """An ONNX embedding loads neither torch nor transformers."""
    write_graph(tmp_path / "tiny.onnx", ["n", 3, SIZE, SIZE])
    code = f"""
        import sys
        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("torch", "transformers"):
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Absent())
        import numpy as np
        from softspread.embedding.embed import embed
        images = np.zeros((3, 9, 9), dtype=np.uint8)
        print(embed(images, encoder={str(tmp_path / "tiny.onnx")!r}, reduce="none").X.shape)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"(3, {FEATURES})"
