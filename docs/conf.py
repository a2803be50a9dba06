"""The documentation site: `make docs` builds it into docs/_build/html, without a network."""

import os
import sys
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

import softspread

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

project = "softspread"
author = "The softspread developers"
copyright = author
release = version = softspread.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "native_math",
    "command_line",
    "python_names",
    "formulas",
    "measurements",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "images", "gallery/**/*.md5", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # functions among the settings of the gallery

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types of the docstring
numpydoc_show_class_members = False
highlight_language = "text"  # of blocks that name none: shell lines and schemes
toc_object_entries_show_parents = "hide"  # fit(), not SoftLabeler.fit(), which does not fit beside the text

html_theme = "pydata_sphinx_theme"
html_title = "softspread"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "native"
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("index", "tour", "faq", "search", "genindex")}  # nothing to list there
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": FileNameSortKey,
    "doc_module": ("softspread",),
    "backreferences_dir": "reference/backreferences",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "plot_gallery": True,
    "show_memory": False,
    "min_reported_time": 5,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "parallel": int(os.environ.get("SOFTSPREAD_DOCS_JOBS", "2")),
    "first_notebook_cell": "%matplotlib inline",
    "reset_modules": ("matplotlib",),
    "download_all_examples": True,
}


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out methods that scikit-learn itself documents."""
    module = getattr(obj, "__module__", "") or ""
    return (
        True
        if module.startswith("sklearn.") or (name.startswith("set_") and name.endswith("_request"))
        else skip
    )


def setup(app):
    """Connect the rule above."""
    app.connect("autodoc-skip-member", skip_inherited)
