"""The annotator models by name; no numerical library is loaded for a wrong one to be refused."""

ANNOTATOR_MODELS = ("auto", "none", "consistency", "confusion")
