"""Finding models on this machine, and saying how to get those that are not here."""

import pytest

from softspread.embedding.encoders.known_models import KNOWN
from softspread.embedding.encoders.model_files import find_model, fingerprint_files, how_to_get
from softspread.errors import InputError


@pytest.mark.parametrize("name", [*KNOWN, "someone/some-model"])
def test_a_model_that_is_not_here_says_how_to_get_it(name, tmp_path, monkeypatch):
    """Offline, without weights: which model, which command, where to put it; nothing is tried over the
    network."""
    pytest.importorskip("huggingface_hub", reason="needs softspread[embed]")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    with pytest.raises(InputError) as caught:
        find_model(name, download=False)
    for part in (f"download {KNOWN.get(name, name)}", "--download", "HF_HOME", "--local-dir", "pixels"):
        assert part in str(caught.value)


def test_a_failed_download_says_so_and_how_to_go_on(tmp_path, monkeypatch):
    """With download=True but no network the reason comes first, the way out after it."""
    hub = pytest.importorskip("huggingface_hub", reason="needs softspread[embed]")

    def offline(name, **options):
        if options.get("local_files_only"):
            raise hub.errors.LocalEntryNotFoundError("not here")
        raise ConnectionError("no route to host")

    monkeypatch.setattr(hub, "snapshot_download", offline)
    with pytest.raises(InputError, match=r"could not download .*no route to host.*--local-dir"):
        find_model("clip", download=True)


def test_a_download_is_used_when_it_brings_weights(image_models, monkeypatch):
    """Asked to, the hub's folder is taken; an old repository without safetensors gets a second request."""
    hub = pytest.importorskip("huggingface_hub", reason="needs softspread[embed]")
    asked = []

    def serve(name, **options):
        if options.get("local_files_only"):
            raise hub.errors.LocalEntryNotFoundError("not here")
        asked.append(options["allow_patterns"])
        return str(image_models["vit"][0])

    monkeypatch.setattr(hub, "snapshot_download", serve)
    assert find_model("vit", download=True) == image_models["vit"][0]
    assert "*.safetensors" in asked[0]


def test_a_folder_without_a_model_or_weights_is_refused(tmp_path):
    """An empty folder, then one with settings only."""
    with pytest.raises(InputError, match=r"no config\.json"):
        find_model(str(tmp_path), download=False)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="no weights"):
        find_model(str(tmp_path), download=False)


def test_the_way_to_get_a_model_names_it():
    """The text is about one model."""
    assert "owner/name" in how_to_get("owner/name")


def test_a_fingerprint_follows_names_and_contents(tmp_path):
    """Another name, size or byte of a file that decides is another model; other files do not count."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"12")
    first = fingerprint_files(tmp_path)
    (tmp_path / "README.md").write_text("a model")
    (tmp_path / "pytorch_model.bin").write_bytes(b"old")  # not read where safetensors are
    assert fingerprint_files(tmp_path) == first
    (tmp_path / "model.safetensors").write_bytes(b"13")
    assert fingerprint_files(tmp_path) != first
    (tmp_path / "model.safetensors").write_bytes(b"12")
    (tmp_path / "config.json").rename(tmp_path / "settings.json")
    assert fingerprint_files(tmp_path) != first
