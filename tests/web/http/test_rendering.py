"""Pages from templates."""

from web.conftest import CLASSES


def test_pages_carry_the_title_and_are_never_cached(still_world):
    """A page that was left with the back button must not show what another person saw."""
    for path, status in (("/login", 200), ("/invite/nonsense", 410)):
        answer = still_world.browser().get(path)
        assert answer.status_code == status
        assert answer.headers["cache-control"] == "no-store"
        assert still_world.service.settings.title in answer.text


def test_a_page_knows_who_looks_at_it(still_world):
    """The user's name is on the page, and strangers see neither it nor the classes."""
    assert "ben" in still_world.browser("ben").get("/vote").text
    stranger = still_world.browser().get("/login").text
    assert not [name for name in CLASSES if f">{name}<" in stranger]
