# Each target makes its own virtual environment from nothing but Python and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint docs bench release-check clean

demo: $(VENV)/.demo  ## install, then soft labels on embedded data with a report
	$(BIN)/softspread demo

test: $(VENV)/.test lint  ## install everything the tests use, check style and types, run all tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup --cov --cov-report=term  # the test processes already use all cores

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_public_face.py tests/test_prose.py  # numpydoc's and proselint's view of docs and docstrings
	$(BIN)/codespell src docs examples tests benchmarks experiments README.md CHANGELOG.md CONTRIBUTING.md

docs: $(VENV)/.test  ## build the documentation into docs/_build/html, with every example of the gallery; any warning is an error
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -j 2 -b html docs docs/_build/html

bench: $(VENV)/.test  ## all benchmarks, side by side; sizes: make bench ARGS="--sizes 1000,10000"
	$(BIN)/python -m benchmarks $(ARGS)

release-check: $(VENV)/.release  ## what a release must pass, in clean environments; see RELEASE.md
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox -s build tests lowest install

$(VENV)/.release:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet nox uv
	touch $@

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[images,parquet]"
	touch $@

$(VENV)/.test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .nox dist docs/_build docs/gallery docs/reference/api docs/reference/api.md docs/reference/backreferences docs/reference/cli.md
