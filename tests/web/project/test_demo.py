"""The project of ``serve --demo``."""

from softspread.web.project.demo import open_demo


def test_the_demo_asks_about_the_digits(tmp_path):
    """Every digit is an item with a picture, ten classes, and the settings that were given."""
    service = open_demo(data_dir=tmp_path / "data", auth=False, overlap=2)
    assert len(service.items) == 1797
    assert service.classes == [str(digit) for digit in range(10)]
    assert service.settings.question == "Which digit is it?"
    assert service.settings.overlap == 2
