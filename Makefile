# Targets only call Python programs in site/, grading/ and tests/.
# `PYTHON=python3.12 make book` picks a Python.
PYTHON ?= python3
PORT ?= 8000
# One more worker than cores, since tests of the site and of grading wait part of their time. With
# another, two cores are no less idle, and the workers compute a tenth more in all.
JOBS ?= $(shell expr $$(nproc) + 1)
BIN := .venv/bin
# If this is set, each of hundreds of processes compiles all of our code again.
unexport PYTHONDONTWRITEBYTECODE
# Tests of a file share what they start: the file stays in one worker. The order is conftest.py's.
PYTEST := $(BIN)/pytest -n $(JOBS) -p no:nbval --dist loadfile --no-loadscope-reorder

.PHONY: book help pdf slides serve lab solution check javascript test test-all bench translations lock \
	release grade roster due collect return export nbgrader clean style environment cluster dev system

book: environment  ## build the site, English and Chinese, into _build/html; warnings are errors
	@$(BIN)/python site build

help:  ## list these commands
	@sed -n 's/^\([a-z -]*\):.*## /make \1	/p' $(MAKEFILE_LIST) | expand -t 20

# Systems have a variable LANGUAGE of their own: only one on the command line counts.
IN_LANGUAGE = $(if $(filter command,$(origin LANGUAGE)),--language $(LANGUAGE))

pdf: dev book  ## print the whole book into _build/roofline.pdf; LANGUAGE=zh_CN
	@$(BIN)/python site pdf $(IN_LANGUAGE)

slides: dev book  ## print the lectures' slides with their notes: _build/*-slides.pdf; LANGUAGE=zh_CN
	@$(BIN)/python site slides $(IN_LANGUAGE)

serve: book  ## show the site: PORT=8001 make serve
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

lab: environment  ## open your copies of chapters and exercises, in my-work/, in JupyterLab; LANGUAGE=zh_CN or en
	@$(BIN)/python site lab $(IN_LANGUAGE) $(LAB_ARGS)

solution: environment  ## show the solution of a finished exercise: make solution EXERCISE=name
	@$(BIN)/python site solution $(EXERCISE)

style: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Needs Node and npm; tests/javascript pins the tools and their hashes.
javascript:  ## type-check the JavaScript, compare the editor's bundle; needs Node and npm
	@cd tests/javascript && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent check

check: style  ## lint, types, rooflib and what needs no build and no browser: for every change
	$(BIN)/mypy
	$(BIN)/pytest tests/rooflib $(addprefix tests/author/test_,repository.py translations.py)

# What failed runs once more, alone: on a loaded machine a browser may have waited too long for its turn,
# which should not hold up a pull request. The first run has named the test.
test: system style  ## what CI runs for a pull request
	$(BIN)/mypy
	$(PYTEST) || $(BIN)/pytest -p no:nbval --last-failed

# As test, with second systems and all series in full: CI runs it every night.
test-all: system style
	$(PYTEST) -m "long or not long"

# Times of rooflib and of grading, as ratios within one run.
bench: dev
	@PYTHONPATH=.:kit:site:tests/support $(BIN)/python tests/bench

translations: environment  ## update the translations' catalogs, and list what is left: PAGE=chapters/time; COMPLETE=1
	@$(BIN)/python site translations $(PAGE) $(if $(COMPLETE),--complete)

# The first lock constrains the others.
lock: dev  ## each requirements*.in -> .txt; LOCK_ARGS=--upgrade for newer versions
	@for name in requirements requirements-cluster requirements-dev; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-header --no-annotate $(LOCK_ARGS) $$name.in --output-file $$name.txt || exit; \
	done

release: environment  ## write exercises without solutions into _build/course or COURSE=folder; ARGS="name name", LANGUAGE=zh_CN
	@$(BIN)/python -m grading release "$(or $(COURSE),_build/course)" $(ARGS) $(IN_LANGUAGE)

grade: environment  ## grade the submissions of a class: make grade COURSE=folder; all of a week: chapters/instructors.md
	@$(BIN)/python -m grading grade $(if $(COURSE),"$(COURSE)") $(ARGS)

# Options and files of these, too, are in ARGS: see chapters/instructors.md.
roster due collect return export: environment  ## five more commands for a class: chapters/instructors.md
	@$(BIN)/python -m grading $@ $(if $(COURSE),"$(COURSE)") $(ARGS)

nbgrader: environment  ## run an nbgrader command in a class: make nbgrader COURSE=folder ARGS="db student list"
	@$(BIN)/python -m grading nbgrader "$(or $(COURSE),_build/course)" $(ARGS)

clean:  ## remove what was built, but neither .venv nor my-work
	@rm -rf _build

environment:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: sudo apt install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) site environment

cluster: environment  ## what `make grade` needs for many machines, or for PostgreSQL
	@$(PYTHON) site environment cluster

dev: environment  ## install what tests and printing need, too
	@$(PYTHON) site environment dev

# Runs before `environment`, which needs python3-venv.
system:
	@$(PYTHON) tests/system_packages.py
