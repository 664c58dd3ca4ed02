# Everything a fresh machine needs: Python 3.11 or later, make, and a package index that pip can reach.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ROOMS  := spec impl properties counterexamples harness
JOBS   ?= 2
OUT    ?= out

.DEFAULT_GOAL := help
.PHONY: help install demo test campaign bench findings lint lock clean kube-scheduler kube-scheduler-test conform go FORCE

help:       ## show the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

install: $(VENV)/installed ## make .venv with the pinned packages and gangproof itself

$(VENV)/packages: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# An editable install links single files, so a new file needs the install again; an edited one does not.
$(VENV)/files: $(VENV)/packages pyproject.toml FORCE
	@find $(ROOMS) -type f ! -name '*.pyc' | LC_ALL=C sort > $@.new
	@cmp -s $@.new $@ && [ $@ -nt pyproject.toml ] && rm $@.new || mv $@.new $@

$(VENV)/installed: $(VENV)/files
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	  --config-settings editable_mode=strict --editable .
	@touch $@

demo: install ## the main job on real manifests; then a mistake, caught and drawn
	$(BIN)/gangproof check examples/training/*.yaml --profile intended
	$(BIN)/gangproof faults F-01 --draw $(OUT)

test: install ## every test that fits into ten minutes
	$(BIN)/pytest -n $(JOBS)

campaign: install ## the longer searches
	$(BIN)/pytest -n $(JOBS) -m campaign -rP

bench: install ## measure the numbers of the README and write them there
	$(BIN)/python -m benchmarks --write README.md

findings: install ## measure every finding on the real scheduler (needs make kube-scheduler) and make their page
	$(BIN)/python -m gangproof.findings.measure

lint: install ## style, types, floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

lock: ## resolve requirements.lock anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra dev pyproject.toml --output-file requirements.lock

WORLDS ?= 1000
MORE   ?= 300
KUBE_SCHEDULER := adapters/kube-scheduler

kube-scheduler: go ## build the real kube-scheduler as an adapter (needs Go 1.26; minutes the first time)
	cd $(KUBE_SCHEDULER) && go build -o bin/kube-scheduler .

kube-scheduler-test: go ## vet and test that adapter
	cd $(KUBE_SCHEDULER) && test -z "$$(gofmt -l . | tee /dev/stderr)" && go vet ./... && go test ./...

conform: install kube-scheduler ## hold scenarios and random worlds against the real kube-scheduler
	$(BIN)/gangproof conform kube-scheduler \
	  $(sort $(wildcard scenarios/*.scenario.yaml))
	$(BIN)/gangproof conform kube-scheduler --worlds $(WORLDS) --seed 11 || test $$? = 3
	$(BIN)/gangproof conform kube-scheduler --worlds $(MORE) --seed 12 --features preemption || test $$? = 3
	$(BIN)/gangproof conform kube-scheduler --worlds $(MORE) --seed 13 --features topology || test $$? = 3
	$(BIN)/gangproof conform kube-scheduler --worlds $(MORE) --seed 21 --features claims || test $$? = 3
	$(BIN)/gangproof conform kube-scheduler --worlds $(MORE) --seed 41 --features templates || test $$? = 3

go:
	@command -v go > /dev/null || { echo 'Go not found: install Go 1.26 or later' >&2; exit 1; }

clean:      ## remove what the other targets made
	rm -rf $(VENV) build out *.egg-info $(KUBE_SCHEDULER)/bin

FORCE:
