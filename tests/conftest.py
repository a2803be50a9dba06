"""Fixtures that several test files share."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from softspread import affinity_graph
from softspread.errors import SoftspreadWarning

pytest_plugins = ("small_models",)
settings.register_profile("any machine", deadline=None)  # no test may fail because a machine is busy
settings.load_profile("any machine")


def pytest_configure(config):
    """Register what the configuration file does not."""
    config.addinivalue_line("markers", "slow: takes a minute or so; leave out with -m 'not slow'")


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    return np.random.default_rng(0)


@pytest.fixture
def shared_data():
    """The folder of public data beside the repository; the test is skipped where it is absent."""
    folder = Path(__file__).parents[1] / "../shared/data"
    if not folder.is_dir():
        pytest.skip("needs the data folder beside the repository")
    return folder.resolve()


@pytest.fixture
def path_of_5():
    """Five items in a row, each tied to the next."""
    A = np.zeros((5, 5))
    for i in range(4):
        A[i, i + 1] = A[i + 1, i] = 1.0
    return affinity_graph(A)


@pytest.fixture
def two_cliques_and_a_loner():
    """Items 0 to 2 all tied, items 3 to 6 all tied, item 7 alone."""
    A = np.zeros((8, 8))
    A[:3, :3] = 1.0
    A[3:7, 3:7] = 1.0
    with pytest.warns(SoftspreadWarning, match="1 of 8 items have no neighbour"):
        return affinity_graph(A)


@pytest.fixture
def install_plugin(tmp_path, monkeypatch):
    """A function that puts a tiny distribution on the path: install_plugin(source, {group: {name: value}}).

    It returns the folder, for subprocesses to put on their own PYTHONPATH.
    """
    installed = []

    def install(source, entries, name="softspread-example"):
        module = name.replace("-", "_")
        folder = tmp_path / name
        about = folder / f"{module}-1.0.dist-info"
        about.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        sections = [
            "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in names.items())])
            for group, names in entries.items()
        ]
        (about / "entry_points.txt").write_text("\n\n".join(sections) + "\n")
        monkeypatch.syspath_prepend(folder)
        installed.append(module)
        return folder

    yield install
    for module in installed:
        sys.modules.pop(module, None)
