"""Docs and docstrings please a linter of prose: no clichés, redundancies, archaisms or hedges."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_docs import PAGES, SOURCES

ROOT = Path(__file__).parents[1]
OFF = {
    "typography": "quotes and dots are ASCII, as in code",
    "lexical_illusions": "takes neighbouring cells of tables and symbols for repeated words",
    "dates_times": "takes CIFAR-10's for a decade, and 'from 50,000 items on' for a date",
    "misc": "takes ne for né, and 'more than 1e-9 of all' for illogical",
    "weasel_words": "takes 'very few votes', where nothing else would be right, for a hedge",
    "uncomparables": "reads across code that is left out",
    "spelling": "takes matplotlib's color and our colour for one text's inconsistency",
}
CODE = re.compile(r"^```.*?^```|^ {4}.*?$|\$\$.*?\$\$", flags=re.MULTILINE | re.DOTALL)


def prose_of_page(page):
    """A page without code, formulas and addresses."""
    text = re.sub(r"`[^`\n]*`", "code", CODE.sub("", page.read_text()))
    return re.sub(r"\]\([^)]*\)", "]", text)


def prose_of_module(path):
    """The docstrings of a module without code."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        ast.get_docstring(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)
    ]
    text = re.sub(r"^\s*(>>>|\.\.\. ).*$", "", "\n\n".join(filter(None, texts)), flags=re.MULTILINE)
    return re.sub(r"``[^`]*``|\"[^\"\n]*\"", "code", text)


def complaints(texts, folder):
    """What proselint says about texts, by name and line."""
    settings = folder / "settings.json"
    settings.write_text(json.dumps({"checks": dict.fromkeys(OFF, False)}))
    files = {folder / f"{number}.txt": name for number, name in enumerate(texts)}
    for file, name in files.items():
        file.write_text(texts[name])
    words = [sys.executable, "-m", "proselint", "check", "--output-format", "json", "--config", str(settings)]
    said = subprocess.run(
        [*words, *map(str, files)], capture_output=True, text=True, check=False, timeout=300
    )
    result = json.loads(said.stdout)["result"]
    names = {file.as_uri(): name for file, name in files.items()}
    return {
        f"{names[address]}: {one['message']}"
        for address, about in result.items()
        for one in about["diagnostics"]
    }


def test_docs_and_docstrings_please_the_linter(tmp_path):
    """No complaint but about one planted sentence, which shows that the linter looks."""
    pytest.importorskip("proselint")
    texts = {str(page.relative_to(ROOT)): prose_of_page(page) for page in PAGES}
    texts |= {str(path.relative_to(ROOT)): prose_of_module(path) for path in SOURCES}
    texts["planted"] = "At the end of the day this is unique.\n"
    found = complaints(texts, tmp_path)
    assert any("cliché" in one for one in found)
    assert {one for one in found if not one.startswith("planted: ")} == set()
