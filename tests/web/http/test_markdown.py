"""Guidelines become HTML in which nothing runs."""

import re

import pytest

from softspread.web.http.markdown import render

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[here](javascript:alert(1))",
    "[here](JaVaScRiPt:alert(1))",
    "[here](java\tscript:alert(1))",
    "[here](&#106;avascript:alert(1))",
    "[here](data:text/html;base64,PHNjcmlwdD4=)",
    "[here](vbscript:x)",
    "![](http://elsewhere.example/spy.png)",
    '[here](https://a.example "\\" onmouseover=alert(1) x=\\"")',
    "<javascript:alert(1)>",
    "`<b onclick=alert(1)>`",
    "| <i onload=x> |\n|---|\n| <svg/onload=alert(1)> |",
    "[a]: javascript:alert(1)\n\n[a]",
]
TAGS = {"p", "em", "strong", "a", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "ol", "li", "h1"}


@pytest.mark.parametrize("text", NASTY)
def test_nothing_in_guidelines_can_run(text):
    """Only plain tags appear, without attributes but those of links, and links lead to the web or to mail."""
    for tag, attributes in re.findall(r"<\s*/?([^\s>/]*)([^>]*)>", render(text)):
        assert tag.lower() in TAGS
        names = re.findall(r'([\w-]+)="[^"]*"', attributes)
        assert set(names) <= ({"href", "title", "target", "rel"} if tag == "a" else set())
        assert re.sub(r'\s+[\w-]+="[^"]*"', "", attributes).strip() == ""
        for address in re.findall(r'href="([^"]*)"', attributes):
            assert address.lower().startswith(("http://", "https://", "mailto:"))


def test_the_usual_markdown_is_rendered():
    """Headings, lists, tables, emphasis and links, which open in another tab."""
    html = render(
        "# Cats\n\n- *purr*\n- **meow**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[site](https://a.example)"
    )
    for part in ("<h1>Cats</h1>", "<li><em>purr</em></li>", "<strong>meow</strong>", "<td>1</td>"):
        assert part in html
    assert 'href="https://a.example"' in html
    assert 'target="_blank"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert render("") == ""
