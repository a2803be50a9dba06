"""The application as a whole: who it answers, and the first admin's link."""

from fastapi.testclient import TestClient

from softspread.web.http.app import create_app, first_link
from web.conftest import BASE, PASSWORD, running


def test_the_first_admin_comes_by_a_link_that_works_once(tmp_path):
    """Printed at the first start; an older link ends when a new one is made; afterwards none is made."""
    with running(tmp_path) as service:
        app = create_app(service, stop_service=False)
        old = first_link(app)
        link = first_link(app)
        client = TestClient(app, base_url=BASE)
        assert client.get(old).status_code == 410
        csrf = client.get(link).text.split('name="csrf" value="')[1].split('"')[0]
        form = {"name": "ada", "password": PASSWORD, "again": PASSWORD, "csrf": csrf}
        assert client.post(link, data={**form, "again": "different one"}).status_code == 422
        answer = client.post(link, data=form)
        assert answer.status_code == 200
        assert answer.url.path == "/dashboard"
        assert client.get(link).status_code == 410
        assert first_link(app) is None
