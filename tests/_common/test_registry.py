"""Names of parts: known without imports, extended by entry points, with errors that say whose fault it is."""

import subprocess
import sys

import pytest

from softspread._common.registry import Registry
from softspread.errors import InputError, PluginError

GROUP = "softspread.shapes"
BUILT_IN = {"round": "math:ceil", "fraction": "fractions:Fraction"}


@pytest.fixture
def shapes():
    return Registry("shape", GROUP, BUILT_IN)


def test_a_built_in_name_gives_its_object(shapes):
    """The object is the one that the module holds."""
    from fractions import Fraction

    assert shapes.get("fraction") is Fraction
    assert shapes.names() == ("round", "fraction")


def test_names_are_known_without_importing_the_parts():
    """Listing and checking names loads neither the parts nor numpy."""
    code = (
        "import sys; from softspread._common.registry import Registry\n"
        "r = Registry('shape', 'softspread.shapes', {'array': 'numpy:ndarray'})\n"
        "r.names(); r.check('array'); print('numpy' in sys.modules)\n"
        "r.get('array'); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("wrong", ["square", "", None, 3, ["round"]])
def test_an_unknown_name_is_refused_with_what_is_allowed(shapes, wrong):
    """The message says what came, what is allowed and how to add a name."""
    for ask in (shapes.check, shapes.get):
        with pytest.raises(InputError) as caught:
            ask(wrong)
        assert f"shape must be one of 'round', 'fraction', got {wrong!r}" in str(caught.value)
        assert f"entry point in the group '{GROUP}'" in str(caught.value)


def test_the_message_names_what_else_is_taken():
    """A parameter that also takes a function says so."""
    registry = Registry("shape", GROUP, BUILT_IN, otherwise="or a function")
    with pytest.raises(InputError, match="'fraction' or a function, got 'square'"):
        registry.get("square")


def test_what_can_be_called_stands_for_itself(shapes):
    """A function is its own part; a name is looked up."""
    assert shapes.find(max) is max
    assert shapes.find("round") is shapes.get("round")
    with pytest.raises(InputError, match="got 'square'"):
        shapes.find("square")


def test_another_package_adds_a_name(shapes, install_plugin):
    """Its name is listed last and gives its object; groups of other kinds are left alone."""
    source = "def draw(): return 'square'"
    install_plugin(
        source,
        {GROUP: {"square": "softspread_example:draw"}, "softspread.other": {"x": "softspread_example:draw"}},
    )
    assert shapes.names() == ("round", "fraction", "square")
    assert shapes.get("square")() == "square"


def test_a_broken_package_hurts_only_who_asks_for_it(shapes, install_plugin):
    """The error names the distribution; all other names work."""
    install_plugin("raise OSError('no licence')", {GROUP: {"square": "softspread_example:draw"}})
    assert shapes.names() == ("round", "fraction", "square")
    assert shapes.check("square") == "square"
    assert shapes.get("round")(1.5) == 2
    message = "shape 'square' comes from softspread-example 1.0, which cannot be loaded: OSError: no licence"
    with pytest.raises(PluginError, match=message):
        shapes.get("square")


def test_a_missing_attribute_names_the_distribution(shapes, install_plugin):
    """An entry point that leads nowhere is the package's fault, not the user's."""
    install_plugin("", {GROUP: {"square": "softspread_example:draw"}})
    with pytest.raises(PluginError, match=r"softspread-example 1\.0.*AttributeError"):
        shapes.get("square")


def test_a_part_must_be_callable(shapes, install_plugin):
    """Every part is a class or a function."""
    install_plugin("draw = 3", {GROUP: {"square": "softspread_example:draw"}})
    with pytest.raises(PluginError, match=r"softspread-example 1\.0 and is not callable.* is 3"):
        shapes.get("square")


def test_a_package_may_not_take_a_built_in_name(shapes, install_plugin):
    """Neither one is used silently; the rest works and the name is listed once."""
    install_plugin("def draw(): pass", {GROUP: {"round": "softspread_example:draw"}})
    assert shapes.names() == ("round", "fraction")
    with pytest.raises(PluginError, match=r"offered by softspread itself and by softspread-example 1\.0"):
        shapes.get("round")
    assert shapes.get("fraction")(1) == 1


def test_two_packages_may_not_share_a_name(shapes, install_plugin):
    """The message names both."""
    for name in ("first-package", "second-package"):
        module = name.replace("-", "_")
        install_plugin("def draw(): pass", {GROUP: {"square": f"{module}:draw"}}, name)
    assert shapes.names() == ("round", "fraction", "square")
    with pytest.raises(PluginError) as caught:
        shapes.get("square")
    assert "first-package 1.0" in str(caught.value)
    assert "second-package 1.0" in str(caught.value)
