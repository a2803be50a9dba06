"""What a release says about itself agrees: versions, dependencies, files."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_conda_recipe_asks_for_the_same_versions():
    """Its run dependencies are those of pyproject.toml, and Python itself."""
    recipe = (ROOT / "packaging/conda-forge/recipe.yaml").read_text()
    listed = re.findall(r"^    - (\S+) (>=\S+)$", recipe.split("  run:")[1], flags=re.MULTILINE)
    project = PROJECT["project"]
    wanted = [re.match(r"([\w-]+)(>=.+)", text).groups() for text in project["dependencies"]]
    assert sorted(listed) == sorted([("python", project["requires-python"]), *wanted])


def test_the_changelog_tells_versions_in_order():
    """Unreleased, then dated versions, the newest first; the fallback version comes after them."""
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert heads[0] == "Unreleased"
    versions = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - 20\d\d-\d\d-\d\d", head).groups() for head in heads[1:]]
    numbers = [tuple(map(int, version)) for version in versions]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] == (0, 1, 0)
    fallback = PROJECT["tool"]["hatch"]["version"]["raw-options"]["fallback_version"]
    assert tuple(map(int, fallback.removesuffix(".dev0").split("."))) > numbers[0]


@pytest.mark.parametrize(
    "page", ["RELEASE.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "LICENSE"]
)
def test_files_that_hosts_look_for_are_there(page):
    """Repository hosts link these by their names."""
    assert (ROOT / page).stat().st_size > 500


def test_release_page_names_every_session():
    """Each step of the check can be run alone, as RELEASE.md says."""
    sessions = set(re.findall(r"@nox\.session.*\ndef (\w+)", (ROOT / "noxfile.py").read_text()))
    assert sessions == set(re.findall(r"`nox -s (\w+)`", (ROOT / "RELEASE.md").read_text()))


def test_the_version_of_a_copy_is_the_installed_one():
    """``--version`` prints what the installation recorded."""
    code = "from importlib.metadata import version; print(version('softspread'))"
    recorded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown = subprocess.run(
        [sys.executable, "-m", "softspread", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["softspread", recorded.stdout.strip()]
