# Every target makes the environment it needs; `apt install make python3-venv` is all
# that a bare system lacks. Another interpreter: `make test PYTHON=python3.12`.

PYTHON ?= python3
export MPLBACKEND ?= Agg

INSTALL = -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# What the library and its tests import under JAX and PyTorch, beside the backend.
LIBRARY_NEEDS = hypothesis jiwer keras matplotlib pycocoevalcap pytest rouge-score sacrebleu scikit-learn
SUITE = keras_attention tests/keras_attention tests/test_imports.py

.PHONY: help demo test test-library test-applications test-backends test-jax test-torch \
	test-thorough lint docs bench clean

help:
	@echo "make demo           train a small translator, show what it attends, export it"
	@echo "make test           the tests on TensorFlow"
	@echo "make test-backends  the library's tests on PyTorch, its contract on JAX"
	@echo "make test-thorough  what these two leave out: more forms of what they prove"
	@echo "make lint           ruff and mypy"
	@echo "make docs           the documentation, into site/"
	@echo "make bench          side by side with Keras, PyTorch and others"
	@echo "make clean          remove what was built; environments and saved models stay"

demo: .venv/installed
	KERAS_BACKEND=tensorflow .venv/bin/python -m applications.translation.demo

# Two halves of like length, which `make --jobs 2 test` runs side by side.
test: test-library test-applications

test-library: PARTS = keras_attention tests --ignore tests/applications
test-applications: PARTS = applications tests/applications
test-library test-applications: .venv/installed-for-development
	KERAS_BACKEND=tensorflow .venv/bin/python -m pytest $(PARTS)

test-backends: test-jax test-torch

# JAX compiles every new shape of every operation, which takes ten times as long as all of
# PyTorch's tests. It optimizes little here and runs the contract, and what is written for
# each backend apart. All the others: `make test-jax SUITE=tests/keras_attention`.
test-jax: SUITE = tests/test_imports.py $(addprefix tests/keras_attention/, \
	test_contract.py test_contract_of_masks.py decoding/test_loop.py \
	ops/test_backend.py ops/test_backward.py ops/test_blockwise.py)
test-jax: OPTIONS = -m 'not slow and not gpu and not network and not thorough'
test-jax: export JAX_DISABLE_MOST_OPTIMIZATIONS = 1

# PyTorch's threads wait for each other when another suite shares the cores.
test-torch: export OMP_NUM_THREADS = 1

test-jax test-torch: test-%: .venv-%/installed
	KERAS_BACKEND=$* .venv-$*/bin/python -m pytest $(OPTIONS) $(SUITE)

# Before a release.
test-thorough: .venv/installed-for-development .venv-jax/installed .venv-torch/installed
	KERAS_BACKEND=tensorflow .venv/bin/python -m pytest -m thorough
	KERAS_BACKEND=jax JAX_DISABLE_MOST_OPTIMIZATIONS=1 \
		.venv-jax/bin/python -m pytest -m 'thorough and not slow' $(SUITE)
	KERAS_BACKEND=torch .venv-torch/bin/python -m pytest -m thorough $(SUITE)

lint: .venv/installed-for-development
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

docs: .venv/installed-for-development
	NO_MKDOCS_2_WARNING=1 KERAS_BACKEND=tensorflow \
		.venv/bin/python -m mkdocs build --quiet --strict

bench: .venv/installed-for-development .venv-jax/installed .venv-torch/installed-for-benchmarks
	KERAS_BACKEND=tensorflow .venv/bin/python -m benchmarks

clean:
	rm -rf build dist site *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

# Environments. The stamp files follow the requirements: a changed version reinstalls.

define make_environment
@command -v $(PYTHON) > /dev/null || \
	{ echo "$(PYTHON) is not here: install Python 3.11 or newer, or name one with PYTHON=..."; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "$(PYTHON) is too old: constraints.txt needs Python 3.11 or newer; name one with PYTHON=..."; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || \
	{ echo "$(PYTHON) cannot make environments: apt install python3-venv"; exit 1; }
@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
@echo "Installing into $(@D) ..."
endef

.venv/installed: setup.cfg constraints.txt
	$(make_environment)
	@.venv/bin/python $(INSTALL) --editable '.[translation]'
	@touch $@

.venv/installed-for-development: .venv/installed
	@.venv/bin/python $(INSTALL) --editable \
		'.[translation,image-captioning,image-classification,kernel-regression,language-modeling,recommendation,speech,summarization,text-classification,litert,onnx,dev,docs]'
	@touch $@

.venv-torch/installed-for-benchmarks: .venv-torch/installed
	@.venv-torch/bin/python $(INSTALL) transformers
	@touch $@

.venv-jax/installed .venv-torch/installed: .venv-%/installed: setup.cfg constraints.txt
	$(make_environment)
	@$(@D)/bin/python $(INSTALL) $* $(LIBRARY_NEEDS)
	@$(@D)/bin/python $(INSTALL) --no-deps --editable .
	@touch $@
