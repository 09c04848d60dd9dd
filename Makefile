# Needs Python 3.11 to 3.13, pip and make. Another interpreter: make PYTHON=python3.12 lab
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
# Options for JupyterLab: make lab LAB_ARGS="--port 8890"
LAB_ARGS ?=

# JupyterLab refuses to run as root without being told. On Linux without a display it prints its address and opens
# nothing: a browser for text would take the terminal.
ifeq ($(shell id -u),0)
LAB_ROOT := --allow-root
endif
ifeq ($(shell uname -s),Linux)
ifeq ($(BROWSER)$(DISPLAY)$(WAYLAND_DISPLAY),)
LAB_BROWSER := --no-browser
endif
endif

.PHONY: help lab test bench lint docs course clean

help:
	@echo "make lab    open JupyterLab on notebooks/"
	@echo "make test   run every test, the notebooks among them"
	@echo "make bench  time what must be fast"
	@echo "make lint   ruff, mypy and the order of modules"
	@echo "make docs   build the site in build/docs/html"
	@echo "make course make the notebooks of the course anew from notebooks/course/source"
	@echo "make clean  remove what these commands made"

lab: $(VENV)/lab.stamp
	$(BIN)/python -m jupyter lab --notebook-dir=notebooks $(LAB_ROOT) $(LAB_BROWSER) $(LAB_ARGS)

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest
	$(BIN)/python -m pytest -n 0 -m "browser or latex or openmpi or cluster"
	$(BIN)/python -m pytest -n 0 --nbval --nbval-current-env --nbval-sanitize-with=tests/nbval_sanitize.cfg notebooks

bench: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n 0 --benchmark-enable --benchmark-only

lint: $(VENV)/test.stamp $(VENV)/dev.stamp
	$(BIN)/python -m ruff check
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/docs.stamp
	$(BIN)/python docs/examples.py
	$(BIN)/python docs/pages.py build/docs/pages
	$(BIN)/python -m sphinx -E -W --keep-going -q -c docs build/docs/pages build/docs/html
	$(BIN)/python docs/live.py build/docs/html/live
	$(BIN)/python docs/check_links.py build/docs/html

course: $(VENV)/test.stamp
	$(BIN)/python notebooks/course/build.py

clean:
	rm -rf $(VENV) build dist .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find orrery_analytic tests notebooks -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else \
	"orrery_analytic needs Python 3.11 to 3.13, but $(PYTHON) is " + sys.version.split()[0] + \
	": make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/lab.stamp: EXTRAS := notebooks
$(VENV)/test.stamp: EXTRAS := notebooks,test
$(VENV)/dev.stamp: EXTRAS := dev
$(VENV)/docs.stamp: EXTRAS := docs
$(VENV)/%.stamp: pyproject.toml constraints.txt | $(VENV)/python.stamp
	$(INSTALL) -e '.[$(EXTRAS)]'
	touch $@
