# Everything from a fresh checkout: Python 3.11 or later and make are enough. Nothing is installed outside .venv.
#
#   make demo    the command on bundled model outputs: a table, a plot, demo-output/report.html
#   make test    style, types, doctests and tests
#   make slow    long simulations, and many times as many examples; make minimum: the suite on the oldest versions
#   make test-dask, make test-spark: evaluation on these engines, in .venv-dask and .venv-spark (the second needs Java)
#   make test-mlflow, and so on for inspect, lm-eval, loggers, service, notebooks: each against its tool, in .venv-NAME
#   make docs    the documentation, in docs/_build/html, and the tests of its pages
#   make bench   speed and memory, side by side with peers
#   make peers   the tables of README and docs/conformance.md: other packages, where these are installed
#   make measured  the measured numbers of the documentation, in quick forms; DATA=FOLDER: also of saved outputs
#   make claims  every claim of the papers, checked again; DATA=FOLDER: also on saved outputs
#   make mutants  small changes of the code, and whether the tests notice: SEED=1 NUMBER=150, or one PACKAGE=policy
#   make dist    wheel and sdist, checked, installed alone and run (nothing is published)
#   make clean   remove everything that these targets made
#
# A stamp file in .venv stands for each finished installation, so that a second run starts at once.

PYTHON ?= python3
TORCH ?= torch==2.13.0
JOBS ?= 2

# Tools that the package works with: each is tested in an environment of its own, with the newest version of the index.
TOOLS := mlflow inspect lm-eval loggers service notebooks

BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

# Tests start hundreds of processes: each would compile the package anew where a container sets this.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint types doctest pytest test-browser test-dask test-spark $(TOOLS:%=test-%) test-prometheus slow minimum docs bench peers measured claims mutants dist clean

help:
	@sed -n '1,18s/^# \{0,1\}//p' Makefile

demo: .venv/installed-cli
	$(BIN)/abstain demo --output demo-output

# Types and doctests need one core each, and no second process that imports everything.
test: lint
	$(MAKE) --no-print-directory --jobs 2 types doctest JOBS=0
	$(MAKE) --no-print-directory pytest

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

doctest: .venv/installed-dev
	$(PYTEST) -q -n $(JOBS) --doctest-modules src/abstain

pytest: .venv/installed-dev
	$(PYTEST) -q -n $(JOBS) --dist worksteal

test-browser: .venv/installed-browser
	ABSTAIN_BROWSER=1 $(PYTEST) -q tests/report/test_browser.py

test-dask: .venv-dask/installed
	.venv-dask/bin/python -m pytest -q -p no:cacheprovider tests/engines/test_dask.py

test-spark: .venv-spark/installed
	.venv-spark/bin/python -m pytest -q -p no:cacheprovider tests/engines/test_spark.py

$(TOOLS:%=test-%): test-%: .venv-%/installed
	ABSTAIN_TOOL=1 .venv-$*/bin/python -m pytest -q -n 0 -W ignore -p no:cacheprovider tests/integrations/test_$(subst -,_,$*).py

test-prometheus: .venv/installed-dev
	ABSTAIN_TOOL=1 $(PYTEST) -q -n 0 tests/integrations/test_prometheus.py

slow: .venv/installed-dev
	$(PYTEST) -q -n $(JOBS) --dist worksteal -m slow --durations 5
	HYPOTHESIS_PROFILE=long $(PYTEST) -q -n $(JOBS) --dist worksteal tests/blocks tests/metrics tests/joint tests/cli/test_damaged_files.py

minimum: .venv/created
	$(BIN)/python .ci/minimum.py --jobs $(JOBS)

SEED ?= 1
NUMBER ?= 150
MUTATED = $(addprefix --package ,$(PACKAGE)) --jobs $(JOBS)
mutants: .venv/installed-mutants
	test -e .mutants/reach.json || $(BIN)/python .ci/mutants.py reach $(MUTATED)
	$(BIN)/python .ci/mutants.py run --seed $(SEED) --number $(NUMBER) $(MUTATED)
	$(BIN)/python .ci/mutants.py show --seed $(SEED)

docs: .venv/installed-dev
	$(BIN)/python -m sphinx -W --keep-going -q -j $(JOBS) docs docs/_build/html
	ABSTAIN_HTML=docs/_build/html $(PYTEST) -q tests/docs/test_built.py

bench: .venv/installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.costs
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.start

peers: .venv/installed-dev
	$(BIN)/python conformance/peers.py run
	$(BIN)/python conformance/peers.py write
	$(BIN)/python -m benchmarks.certificates field

measured: .venv/installed-dev
	$(BIN)/python docs/measured.py $(PAGE) $(if $(DATA),--data $(DATA))

claims: .venv/installed-dev
	$(BIN)/python -m experiments.claims --slow $(if $(DATA),--data $(DATA))

dist: .venv/installed-dev
	$(BIN)/python .ci/dist.py

clean:
	rm -rf .venv .venv-minimum .venv-dist .venv-dask .venv-spark $(TOOLS:%=.venv-%) demo-output docs/_build docs/metrics/generated docs/scores/generated docs/nn/generated docs/gallery/generated docs/tutorials/generated docs/cli/generated docs/glossary/generated dist build
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs benchmarks experiments -type d -name __pycache__ -prune -exec rm -rf {} +

.venv/created:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	touch $@

# Engines are the user's: no extra of the package installs them.
.venv-dask/installed: ENGINE := 'dask[dataframe,distributed]>=2025.1'
.venv-spark/installed: ENGINE := 'pyspark>=3.5'
.venv-dask/installed .venv-spark/installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[cli]' $(ENGINE) pandas pyarrow 'pytest>=8' 'hypothesis>=6.140'
	touch $@

# The same for other tools; those with PyTorch get the build that TORCH names.
.venv-mlflow/installed: TOOL := mlflow
.venv-inspect/installed: TOOL := inspect_ai
.venv-lm-eval/installed: TOOL := $(TORCH) 'lm_eval[hf]'
.venv-loggers/installed: TOOL := $(TORCH) wandb tensorboard scikit-learn 'lightning>=2.6' 'torchmetrics>=1.4'
.venv-service/installed: TOOL := fastapi uvicorn httpx
.venv-notebooks/installed: TOOL := nbclient ipykernel nbformat
$(TOOLS:%=.venv-%/installed): pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(TOOL)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[cli]' pandas pyarrow 'pytest>=8' 'pytest-xdist>=3.6.1' 'hypothesis>=6.140'
	touch $@

.venv/installed-cli: pyproject.toml | .venv/created
	$(PIP) --editable '.[cli]'
	touch $@

# PyTorch first and alone, since nothing that follows replaces it. On Linux the build of PyPI brings CUDA; that for
# processors alone: make test TORCH="torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"
.venv/installed-torch: | .venv/created
	$(PIP) $(TORCH)
	touch $@

.venv/installed-dev: pyproject.toml .venv/installed-torch
	$(PIP) --editable '.[dev]'
	touch $@ .venv/installed-cli

.venv/installed-mutants: .venv/installed-dev
	$(PIP) 'coverage>=7.6' 'pytest-cov>=6'
	touch $@

.venv/installed-browser: .venv/installed-dev
	$(PIP) --editable '.[browser]'
	touch $@
