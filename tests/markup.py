"""A hostile text and a reader of HTML, for the tests of pages."""

from html.parser import HTMLParser

NASTY = "</script><img src=x onerror='alert(1)'>&\""


class Tags(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
