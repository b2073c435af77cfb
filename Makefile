# make demo   set up and take the tour of five minutes
# make serve  set up and open a model on a page, with its API, on this machine: http://127.0.0.1:8000/
# make test   set up, check the style, the types and the imports, and run the tests
# make test-long  run the tests that take longest: of the benchmarks, of SQL on many models, of honest figures
# make test-serving  kill a learning server fifty times, send it 10,000 malformed bodies and what Schemathesis draws
# make test-browser  test reports and the served page in a real browser, Chromium, where there is one or it can be installed
# make style  set up and check the style, the types and the imports alone
# make test-engines  set up and run the tests on real engines: a cluster of Spark, started for them
# make docs   set up and build the documentation into site/
# make fuzz   set up, build the kernels of text with GCC's sanitizers, and send random strings through them
# make attack  send what others might write to everything that reads it, for MINUTES=20
# make quality  judge the defaults beside other models, into benchmarks/quality.md (hours; QUALITY=--jobs=2: untimed)
# make honesty  compare the figures that the default reports with true ones, into benchmarks/honesty.md (two hours; HONESTY="--rows 1000 --repeats 2": less)
# make bench  set up and compare with other libraries, into benchmarks/results.md (two hours; PART=texts: a part of it)
# All need only python3, a C compiler and make. PYTHON=... chooses another interpreter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD_TOOLS := "pip>=25.1" "setuptools>=77" "cython>=3.2" "numpy>=2.0"
# When one of these changes the package is installed again, and what changed of the kernels is compiled again.
SOURCES := pyproject.toml setup.py $(wildcard src/priory/kernels/*.pyx src/priory/kernels/*.pxd src/priory/kernels/*.h)
# What `make bench` and `make quality` compare with, beside scikit-learn, as far as it can be installed.
PEERS := mlpack river wnb polars vowpalwabbit fasttext-numpy2-wheel lightgbm interpret-core catboost crepes mapie cleanlab shap

# Python compiles a module when it is first imported; pip would compile all that are there.
export PIP_NO_COMPILE := 1

# Says what comes next; shows a command as a reader would type it, and runs it.
told = @printf '\n── %s\n' '$(1)'
shown = @printf '\n$$ priory %s\n\n' '$(1)'; $(BIN)/priory $(1)
VOTES := src/priory/examples/house_votes.csv

.PHONY: demo serve test test-long test-engines test-browser test-serving style docs fuzz attack quality honesty bench build format map clean

demo: $(VENV)/.installed
	@mkdir -p build
	$(call told,1. The textbook sum: fourteen days are counted and one more is worked out by hand)
	$(call shown,train examples/play_tennis.csv --target play --textbook --smoothing 0 -o build/play.priory)
	$(call shown,explain build/play.priory --set outlook=Sunny --set temperature=Cool --set humidity=High --set wind=Strong)
	$(call told,2. A real table with gaps: sixteen votes of 435 members of Congress in 1984 and their parties)
	$(call shown,train $(VOTES) --target party -o build/votes.priory)
	$(call shown,explain build/votes.priory --set physician-fee-freeze=y --set immigration=n --set crime=y)
	$(call told,3. A few texts: which messages are junk?)
	$(call shown,train examples/messages.csv --target kind -o build/messages.priory)
	$(call shown,explain build/messages.priory --set "text=Call me after lunch to claim your free prize")
	$(call told,4. A report to hand over: figures and columns and a form that computes in the browser)
	$(call shown,report build/votes.priory $(VOTES) -o build/votes.html)
	@printf '\nOpen it: file://%s\n' "$(CURDIR)/build/votes.html"
	@printf 'Or ask the model on a page of its own: make serve\n'

serve: $(VENV)/.installed-web
	@$(BIN)/priory serve $(or $(DATA),$(VOTES)) --target $(or $(TARGET),party) --port $(or $(PORT),8000)

test: style
	@$(BIN)/pytest -n auto

test-long: $(VENV)/.installed-test
	@$(BIN)/pytest -n auto -m long

# What cannot be had is skipped with the reason. Classic Spark and Connect cannot share a process.
test-engines: $(VENV)/.installed-engines
	@JAVA_HOME="$$(scripts/java.sh)" PRIORY_ENGINES=1 $(BIN)/pytest tests/engines
	@JAVA_HOME="$$(scripts/java.sh)" PRIORY_ENGINES=1 PRIORY_SPARK=connect $(BIN)/pytest tests/engines/test_spark.py

# What is missing of the browser is installed where that is possible; else the reason is told.
test-browser: $(VENV)/.installed-test
	@scripts/browser.sh $(BIN)/python && PRIORY_BROWSER=1 $(BIN)/pytest tests/reporting tests/serving/test_page.py

test-serving: $(VENV)/.installed-test
	@$(BIN)/python -m tests.serving.malformed 10000
	@$(BIN)/python -m tests.serving.described 50
	@$(BIN)/python -W ignore -m benchmarks.serving --part kill --times 50

style: $(VENV)/.installed-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "The documentation is in site/index.html"

# The sanitizers' library must be loaded before all others, and C++'s with it. What Python itself never frees is
# no leak; with the C library's malloc every object has its guards.
fuzz: $(VENV)/.installed-test
	@mkdir -p build/fuzz/lib && cp -r src/priory build/fuzz/lib
	@PRIORY_SANITIZE=1 $(BIN)/python setup.py --quiet build_ext --force \
	    --build-lib build/fuzz/lib --build-temp build/fuzz/temp
	@LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc PYTHONPATH=build/fuzz/lib \
	    $(BIN)/python -m tests.kernels.fuzz $(or $(STRINGS),100000)

attack: $(VENV)/.installed-test
	@$(BIN)/python -W ignore -m tests.attack $(or $(MINUTES),20)

quality: $(VENV)/.installed-bench build/texts
	@$(BIN)/python -m benchmarks.quality $(QUALITY)

build/texts: | $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks.packaged_texts $@

honesty: $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks.honesty $(HONESTY)

bench: $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks $(if $(PART),--part $(PART)) $(BENCH)

build: $(VENV)/.created
	@$(BIN)/python setup.py --quiet build_ext --inplace

format: $(VENV)/.installed-test
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python scripts/floor_plan.py

map: $(VENV)/.installed
	@$(BIN)/python scripts/floor_plan.py

clean:
	rm -rf $(VENV) build dist site src/*.egg-info src/priory/kernels/*.so src/priory/kernels/*.c
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: $(VENV)/.created $(SOURCES)
	@$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-web: pyproject.toml | $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[web]"
	@touch $@

# The tools come beside the package: what is compiled stays as it is.
$(VENV)/.installed-test $(VENV)/.installed-docs: $(VENV)/.installed-%: pyproject.toml | $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --group $*
	@touch $@

# An engine that cannot be installed is skipped by its tests, which say so.
$(VENV)/.installed-engines: pyproject.toml | $(VENV)/.installed-test
	@if $(BIN)/python -m pip install --quiet --group engines; then touch $@; else \
	    echo "Not every engine could be installed." >&2; fi

# A peer that cannot be installed is left out, and none may change the versions of what is there.
$(VENV)/.installed-bench: pyproject.toml Makefile | $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --group bench
	@$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/constraints.txt
	@for peer in $(PEERS); do \
	    $(BIN)/python -m pip install --quiet --only-binary :all: --constraint $(VENV)/constraints.txt $$peer || true; \
	done
	@touch $@

# Some systems ship python3 without ensurepip: then pip comes from the interpreter's own pip.
$(VENV)/.created: Makefile
	@test -x $(BIN)/python -a -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { \
	    $(PYTHON) -m venv --clear --without-pip $(VENV) && { \
	        $(BIN)/python -m ensurepip --default-pip >/dev/null 2>&1 || \
	        $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; \
	    } || { \
	        echo "No virtual environment with pip could be made by $(PYTHON)." >&2; \
	        echo "Install its venv module (Debian, Ubuntu: apt install python3-venv) or set PYTHON." >&2; \
	        exit 1; \
	    }; \
	}
	@$(BIN)/python -m pip install --quiet --upgrade $(BUILD_TOOLS)
	@touch $@
