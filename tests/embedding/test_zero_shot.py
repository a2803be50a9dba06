"""Class names become a prior by the model's own rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import EncodingOptions, encode
from softspread.embedding.zero_shot import TEMPLATES, prompts, zero_shot, zero_shot_of
from softspread.errors import InputError

CLASSES = ["cat", "dog", "ship"]


def test_probabilities_equal_the_models_own(torch, clip_folder, pictures):
    """Softmax of the logits that transformers' CLIP computes from the same pixels and sentences."""
    from transformers import AutoTokenizer, CLIPModel

    p = zero_shot(pictures, CLASSES, encoder=clip_folder)
    encoded = encode(pictures, clip_folder, EncodingOptions())
    wanted = encoded.encoder.preparation
    from softspread.embedding.preparation import prepare

    pixels = np.stack([prepare(picture, wanted, encoded.encoder.resize) for picture in pictures])
    tokens = AutoTokenizer.from_pretrained(clip_folder)(
        [f"an image of a {name}" for name in CLASSES], padding=True, return_tensors="pt"
    )
    model = CLIPModel.from_pretrained(clip_folder).eval()
    with torch.inference_mode():
        logits = model(
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            pixel_values=torch.from_numpy(wanted.normalize(pixels)),
        ).logits_per_image
    assert_allclose(p, logits.softmax(dim=1).numpy(), atol=1e-4)
    assert_allclose(p.sum(axis=1), 1)
    assert p.std(axis=0).max() > 1e-4  # images differ


def test_it_plugs_into_the_estimator(clip_folder, pictures, rng):
    """Without votes nearby, the soft label is the prior."""
    from softspread import ProbabilisticLabelSpreading, Votes

    p = zero_shot(pictures, CLASSES, encoder=clip_folder)
    X = np.concatenate([rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 1000])
    votes = Votes.from_pairs([0], ["cat"], classes=CLASSES)
    est = ProbabilisticLabelSpreading(n_neighbors=3, prior=p, prior_strength=1.0)
    est.fit(X, votes)
    assert_allclose(est.predict_proba()[10:], p[10:], atol=1e-6)


def test_the_order_of_classes_permutes_the_columns(clip_folder, pictures):
    """Column c belongs to class c."""
    encoded = encode(pictures, clip_folder, EncodingOptions())
    forth, back = zero_shot_of(encoded, CLASSES), zero_shot_of(encoded, CLASSES[::-1])
    assert_allclose(forth.p, back.p[:, ::-1], atol=1e-6)
    assert forth.to_frame().columns.tolist() == ["item", "p_cat", "p_dog", "p_ship"]


def test_several_templates_are_averaged_as_directions(clip_folder, pictures):
    """The same sentence twice is that sentence."""
    encoded = encode(pictures, clip_folder, EncodingOptions())
    once, twice = (
        zero_shot_of(encoded, CLASSES, sentence) for sentence in ("a {class}", ["a {class}", "a {class}"])
    )
    assert_allclose(once.p, twice.p, atol=1e-6)


def test_prompts_are_the_papers():
    """The basic sentence, and those for digits and signs."""
    assert prompts(CLASSES, "default")[1] == ["an image of a dog"]
    assert prompts([3, 5], "emnist-digits")[0] == ["A black and white image of the handwritten digit 3"]
    assert prompts(["circle", "triangle"], "mtsd")[0] == [
        "an image of a street sign in the shape of a circle"
    ]
    assert set(TEMPLATES) == {"default", "emnist-digits", "mtsd"}


def test_braces_in_a_class_name_are_no_trouble():
    """Names are inserted, not formatted."""
    assert prompts(["{0}", "%s"], "a {class}") == [["a {0}"], ["a %s"]]


@pytest.mark.parametrize(
    ("classes", "template", "part"),
    [
        (CLASSES, "a picture", "must hold"),
        (["cat"], "default", "at least 2"),
        (["a", "a"], "default", "distinct"),
    ],
)
def test_wrong_requests_are_refused_before_encoding(classes, template, part, tmp_path):
    """Not after hours."""
    with pytest.raises(InputError, match=part):
        zero_shot(tmp_path / "not even there", classes, template=template)


def test_models_without_text_are_refused(image_models, pictures):
    """And the message names one that has it."""
    with pytest.raises(InputError, match="such as 'clip'"):
        zero_shot(pictures, CLASSES, encoder=image_models["vit"][0])
    with pytest.raises(InputError, match="such as 'clip'"):
        zero_shot(pictures, CLASSES, encoder="pixels")
