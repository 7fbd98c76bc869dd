# make demo: set up, simulate a small plant, save a plot.   make test: lint, types, tests.   make bench: the benchmarks.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard native/*.cpp native/*.h)

.PHONY: site studio fuzz demo test bench setup clean

demo: setup
	@$(BIN)/acausal demo

test: setup
	$(BIN)/ruff check src tests benchmarks examples scripts
	$(BIN)/ruff format --check src tests benchmarks examples scripts
	$(BIN)/mypy src
	$(BIN)/pytest -n 2

bench: setup
	$(BIN)/acausal bench

site: setup
	$(BIN)/pip install --quiet --disable-pip-version-check "mkdocs-material>=9.5"
	$(BIN)/python -m mkdocs build --strict

setup: $(VENV)/.installed

# A stamp for each thing that takes time, so that a second `make` does nothing twice.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "acausal needs Python 3.11 or later; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.system: | $(VENV)/.created
	@sh scripts/system_packages.sh
	@touch $@

$(VENV)/.tools: | $(VENV)/.created
	$(BIN)/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.0" "cmake>=3.18" ninja
	@touch $@

# Without build isolation the build directory is kept, and a changed source rebuilds itself alone.
$(VENV)/.installed: pyproject.toml $(NATIVE) $(VENV)/.system $(VENV)/.tools
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[test,export]"
	@$(BIN)/python -c "import acausal._core" 2>/dev/null || echo "acausal: installed without the native core; the portable solver is used."
	@touch $@

studio:  ## the page of the studio, built where Node is; what it gives is in the repository
	cd studio && npm install --no-audit --no-fund && npm run build

clean:
	rm -rf $(VENV) build src/acausal/_core*.so .pytest_cache .ruff_cache .mypy_cache

fuzz: setup  ## random models against a second opinion: make fuzz COUNT=1000 SEED=0, or TOTAL=100000 of all generators together
	$(BIN)/python -m tests.fuzz $(if $(TOTAL),--total $(TOTAL),--count $(or $(COUNT),200)) --seed $(or $(SEED),0) --processes 2
	$(BIN)/python -m tests.studio.edits --count $(or $(COUNT),200) --seed $(or $(SEED),0)
