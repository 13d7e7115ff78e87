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
# Without nbval, which one test loads itself: each worker would import it.
PYTEST := $(BIN)/pytest -n $(JOBS) -p no:nbval --dist loadfile --no-loadscope-reorder

.PHONY: book editions pdf slides serve lab solution check javascript test test-book test-all mutants fuzz bench bench-site \
	bench-page bench-grade translations lock release grade nbgrader clean style environment cluster dev system

book: environment  ## build the site into _build/html
	@$(BIN)/python site build

editions: book  ## collect the site and the edition of each tag in _build/public
	@$(BIN)/python site editions

# Systems have a variable LANGUAGE of their own: only one on the command line counts.
IN_LANGUAGE = $(if $(filter command,$(origin LANGUAGE)),--language $(LANGUAGE))

pdf: dev book  ## print the whole book into _build/roofline.pdf; LANGUAGE=zh_CN
	@$(BIN)/python site pdf $(IN_LANGUAGE)

slides: dev book  ## print the lectures' slides with their notes: _build/*-slides.pdf; LANGUAGE=zh_CN
	@$(BIN)/python site slides $(IN_LANGUAGE)

serve: book  ## show the site: PORT=8001 make serve
	@$(BIN)/python site serve $(PORT)

lab: environment  ## open the chapters and the exercises in JupyterLab; LANGUAGE=zh_CN changes the language
	@$(BIN)/python site lab $(IN_LANGUAGE) $(LAB_ARGS)

solution: environment  ## show the solution of a finished exercise: make solution EXERCISE=name
	@$(BIN)/python site solution $(EXERCISE)

style: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Needs Node and npm; tests/javascript pins the tools and their hashes.
javascript:  ## lint and type-check the JavaScript, and compare the editor's bundle
	@cd tests/javascript && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent check

check: style  ## lint, types, rooflib's tests and its docstrings' examples: under a minute
	$(BIN)/mypy
	$(BIN)/pytest tests/rooflib

# mypy runs in a test, tests/repository/test_types.py, in parallel with the others.
test: system style  ## everything that CI runs
	$(PYTEST) || $(BIN)/python tests/again.py $$?

test-book: dev  ## the book, its tests and its translations: enough for a change of prose only
	$(PYTEST) tests/book $(addprefix tests/locale/test_,parity.py catalogs.py)

test-all: system style  ## as test, with second systems and all series in full
	$(PYTEST) -m "long or not long"

mutants: dev  ## mutation testing: break the code in many places and see that a test notices
	@PYTHONPATH=tests/support $(BIN)/python tests/mutants $(MUTANTS_ARGS)

fuzz: dev  ## fuzz all code that reads submissions: FUZZ_EXAMPLES=1000
	@FUZZ_EXAMPLES=$(or $(FUZZ_EXAMPLES),1000) $(BIN)/pytest tests/fuzz -m "long or not long" -o faulthandler_timeout=0

bench: dev  ## time rooflib
	@$(BIN)/python tests/bench/bench_rooflib.py

bench-site: dev  ## compare the site with a stock build of the same pages
	@PYTHONPATH=tests/support $(BIN)/python tests/bench/bench_site.py

bench-page: dev book  ## time Python in the page, from pressing Run to the values
	@PYTHONPATH=.:kit:site:tests/support $(BIN)/python tests/bench/bench_page.py

bench-grade: dev  ## time the grading of a class against stock nbgrader: ten minutes
	@PYTHONPATH=.:tests/support $(BIN)/python tests/bench/bench_grade.py $(BENCH_ARGS)

translations: environment  ## update the translations' catalogs, and list what is missing: PAGE=chapters/time
	@$(BIN)/python site translations $(PAGE)

# The first lock constrains the others.
lock: dev  ## each requirements*.in -> .txt; LOCK_ARGS=--upgrade for newer versions
	@for name in requirements requirements-cluster requirements-dev; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-header --no-annotate $(LOCK_ARGS) $$name.in --output-file $$name.txt || exit; \
	done

release: environment  ## write the exercises without solutions into _build/course or COURSE=folder; LANGUAGE=zh_CN
	@$(BIN)/python -m grading release $(if $(COURSE),"$(COURSE)") \
		$(IN_LANGUAGE)

grade: environment  ## grade the submissions of a class: make grade COURSE=folder, options in GRADE_ARGS
	@$(BIN)/python -m grading grade $(if $(COURSE),"$(COURSE)") $(GRADE_ARGS)

nbgrader: environment  ## run an nbgrader command in a class: make nbgrader COURSE=folder ARGS="list"
	@$(BIN)/python -m grading nbgrader "$(or $(COURSE),_build/course)" $(ARGS)

clean:  ## remove what was built, but neither .venv nor my-work
	@rm -rf _build

environment:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: sudo apt install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) site environment

cluster: environment  ## what `make grade` needs for many machines, or for PostgreSQL
	@$(PYTHON) site environment cluster

dev: environment
	@$(PYTHON) site environment dev

# Runs before `environment`, which needs python3-venv.
system:
	@$(PYTHON) tests/system_packages.py
