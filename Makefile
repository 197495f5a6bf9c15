# Every variable can be set on the command line: make run SWIFT=~/swift/bin/swift SCRATCH=/tmp/build FLAGS="-j 1"

SWIFT           ?= swift
# The folders of the debug build, the release build and the tests with ThreadSanitizer. The example packages are built
# in the debug build's folder, so that code that they share with the tool is compiled only once.
SCRATCH         ?= .build
RELEASE_SCRATCH ?= .build-release
TSAN_SCRATCH    ?= .build-tsan
# Three variables: options for every build, for the test run only, and for `run`.
FLAGS           ?=
TEST_FLAGS      ?=
# The events of the test run, from which the list of skipped tests is created.
TEST_EVENTS      = $(SCRATCH)/test-events.jsonl
RUN_FLAGS       ?=
SCENARIOS       ?= Scenarios/crlf.scn
# The program that runs the end-to-end tests, given the tool's path. Its last line is `N passed, N failed`.
END_TO_END      ?= $(wildcard Tests/EndToEnd/run)
BENCH_FLAGS     ?=
# For `mutants`: the names of mutants, or --all.
MUTANT_FLAGS    ?=
# For `slurm`: folders of scenarios to run instead of a part of the conformance suite.
SLURM_FLAGS     ?=
# For `explore`: the names of programs, or --seeds 7,1,2,3,4,5.
EXPLORE_FLAGS   ?=
# For `fuzz`. Its target `verdicts` also accepts the tool (default: the release build), a seed, and a pair to run again.
TARGET          ?= script
SECONDS         ?= 60
FUZZ_TOOL       ?=
SEED            ?=
PAIR            ?=
FUZZ_FLAGS      ?=
# The folder that `install` installs into, relative to DESTDIR if that is set.
PREFIX          ?= /usr/local
# The tool that `install` installs, with `tcpprobe-subjects` and `tcpprobe-crowd` next to it. If it is not set, all three are built.
INSTALL_TOOL    ?=
# The folder that packages are written to, and the folder of the build that they contain (default: the release build).
PACKAGES        ?= .build-packages
PACKAGE_BUILD   ?=
# For `test-packages`: the Debian releases on which the tarball is tested. The Debian package is tested on bookworm.
PACKAGE_SYSTEMS ?= bookworm bullseye
# The compression of the Debian package; gzip is faster.
COMPRESSION     ?= xz

TOOL         = $(SCRATCH)/debug/tcpprobe
RELEASE_TOOL = $(RELEASE_SCRATCH)/release/tcpprobe
MANUAL       = $(SCRATCH)/debug/generate-manual
LINTED       = Sources Plugins Tests Examples Fuzz Package.swift
SHELL_SCRIPTS = Scripts/install-libraries Scripts/skipped-tests Scripts/install Scripts/commit .ci/run Tests/Packages/run \
	$(addprefix Packaging/,check-portable deb epoch link mirror programs sysroot tarball version) $(wildcard Examples/scale/*.sh)
PACKAGED     = $(or $(PACKAGE_BUILD),$(RELEASE_SCRATCH)/release)

.DEFAULT_GOAL := help
.PHONY: help deps build build-subjects run test test-example test-chat test-protobuf check-scenarios lint format editors docs picture release bench fuzz install uninstall clean mutants explore slurm delays test-tsan deb tarball sbom test-packages

help: ## Show this list
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## Install missing development packages of C libraries
	@Scripts/install-libraries

build: deps ## Build tcpprobe and tcpprobe-crowd (debug)
	$(SWIFT) build --scratch-path $(SCRATCH) --product tcpprobe $(FLAGS)
	$(SWIFT) build --scratch-path $(SCRATCH) --product tcpprobe-crowd $(FLAGS)

build-subjects: deps ## Build tcpprobe-subjects (debug), for --transport nio, nio-websocket and flyingsocks
	$(SWIFT) build --scratch-path $(SCRATCH) --product tcpprobe-subjects $(FLAGS)

run: build ## Build, then run Scenarios/crlf.scn, or make run SCENARIOS=...
	$(TOOL) run $(RUN_FLAGS) $(SCENARIOS)

test: deps ## Build and run all tests
	$(SWIFT) build --scratch-path $(SCRATCH) --build-tests $(FLAGS)
	$(SWIFT) test --scratch-path $(SCRATCH) --skip-build --disable-xctest --event-stream-output-path $(TEST_EVENTS) --event-stream-version 0 \
		$(FLAGS) $(TEST_FLAGS) || { Scripts/skipped-tests $(TEST_EVENTS) || true; exit 1; }
	@Scripts/skipped-tests $(TEST_EVENTS)
	$(if $(END_TO_END),$(END_TO_END) $(abspath $(TOOL)))

test-example: deps ## Build and test the example packages that use the library
	$(SWIFT) test --package-path Examples/LineTransport --scratch-path $(SCRATCH) --disable-xctest $(FLAGS) $(TEST_FLAGS)

test-chat: build ## Build the chat example, test its client, and run its server's scenarios
	$(SWIFT) test --package-path Examples/Chat --scratch-path $(SCRATCH) --disable-xctest $(FLAGS) $(TEST_FLAGS)
	PATH="$(abspath $(SCRATCH))/debug:$$PATH" $(TOOL) run Examples/Chat/Scenarios/room --out $(SCRATCH)/captures $(RUN_FLAGS)

test-protobuf: build ## Run the protobuf conformance cases against the Swift and Python libraries (PyPI: protobuf)
	$(SWIFT) test --package-path Examples/Protobuf --scratch-path $(SCRATCH) --disable-xctest $(FLAGS) $(TEST_FLAGS)
	$(TOOL) run Scenarios/conformance/protobuf --adapter "python3 Examples/Protobuf/protobuf_adapter.py" \
		--out $(SCRATCH)/captures --strict $(RUN_FLAGS)

test-tsan: deps ## Build and run the tests with ThreadSanitizer
	$(SWIFT) build --scratch-path $(TSAN_SCRATCH) --build-tests --sanitize=thread $(FLAGS)
	$(dir $(shell command -v $(SWIFT)))clang -O1 -Wall -Wextra -shared -fPIC Tests/Sanitizers/mutex.c -o $(TSAN_SCRATCH)/mutex.so -ldl
	LD_PRELOAD=$(abspath $(TSAN_SCRATCH)/mutex.so) $(SWIFT) test --scratch-path $(TSAN_SCRATCH) --skip-build --sanitize=thread \
		--disable-xctest $(FLAGS) $(TEST_FLAGS)

check-scenarios: build ## Check all scenarios without running them
	$(TOOL) check Scenarios Benchmarks

mutants: build ## Run the conformance suite with broken transports, each of which must be caught (MUTANT_FLAGS=splitlines runs one)
	Tests/Mutants/run $(abspath $(TOOL)) $(MUTANT_FLAGS)

explore: build ## Find the planted bugs in Tests/Explore, and none in the correct programs (EXPLORE_FLAGS=quit-first runs one)
	Tests/Explore/run $(abspath $(TOOL)) $(EXPLORE_FLAGS)

diagnosis: build ## Generate labelled captures of faults and diagnose them (requires root; DIAGNOSIS_FLAGS="SEED VARIANTS")
	Tests/Diagnosis/run $(abspath $(TOOL)) $(DIAGNOSIS_FLAGS)

slurm: build ## Run shards and crowd shares on a local Slurm cluster of three nodes (SLURM_FLAGS=FOLDER runs another suite)
	Tests/Slurm/run $(abspath $(TOOL)) $(SLURM_FLAGS)

delays: build ## Run the conformance suite with a correct transport that reports late: the verdicts must not change
	Tests/Delays/run $(abspath $(TOOL)) --whole

editors: build ## Generate the editor grammars and the tables of the reference
	$(TOOL) generate-language $(CURDIR)

docs: build ## Write the conformance cases as a page to .build/conformance-cases.md
	Scripts/conformance-page $(abspath $(TOOL)) $(SCRATCH)/conformance-cases.md

picture: build ## Render the picture in the README, docs/images/failing-case.png (requires Chromium)
	Tests/Pages/picture $(TOOL) docs/images/failing-case.png

lint: ## Check the formatting of the sources, and the shell scripts
	$(SWIFT) format lint --strict --parallel --recursive $(LINTED)
	@if command -v shellcheck >/dev/null 2>&1; then shellcheck $(SHELL_SCRIPTS); \
	else echo "shellcheck is not installed: the shell scripts were not checked"; fi

format: ## Format the sources
	$(SWIFT) format format --in-place --parallel --recursive $(LINTED)

release: deps ## Build the three programs for release in .build-release
	$(SWIFT) build --scratch-path $(RELEASE_SCRATCH) -c release --static-swift-stdlib --product tcpprobe $(FLAGS)
	$(SWIFT) build --scratch-path $(RELEASE_SCRATCH) -c release --static-swift-stdlib --product tcpprobe-subjects $(FLAGS)
	$(SWIFT) build --scratch-path $(RELEASE_SCRATCH) -c release --static-swift-stdlib --product tcpprobe-crowd $(FLAGS)

bench: release ## Run the benchmarks, and compare the results with the targets and with other tools (BENCH_FLAGS=--quick is shorter)
	Benchmarks/run --tool $(abspath $(RELEASE_TOOL)) $(BENCH_FLAGS)

install: $(if $(INSTALL_TOOL),,release) ## Install the programs, completions, manual pages, editor files and documents below PREFIX (/usr/local)
	$(SWIFT) build --scratch-path $(SCRATCH) --product generate-manual $(FLAGS)
	DESTDIR=$(DESTDIR) Scripts/install install $(or $(INSTALL_TOOL),$(RELEASE_TOOL)) $(MANUAL) $(PREFIX)

uninstall: ## Remove the installed files below PREFIX
	DESTDIR=$(DESTDIR) Scripts/install uninstall $(PREFIX)

deb: $(if $(PACKAGE_BUILD),,release) ## Build the Debian package in .build-packages (requires dpkg-dev)
	$(SWIFT) build --scratch-path $(SCRATCH) --product generate-manual $(FLAGS)
	COMPRESSION=$(COMPRESSION) SWIFT=$(SWIFT) Packaging/deb $(PACKAGED) $(MANUAL) $(PACKAGES)

tarball: $(if $(PACKAGE_BUILD),,release) ## Build tcpprobe-VERSION-linux-ARCH.tar.gz for glibc 2.31 or later in .build-packages (requires apt)
	$(SWIFT) build --scratch-path $(SCRATCH) --product generate-manual $(FLAGS)
	SWIFT=$(SWIFT) Packaging/tarball $(PACKAGED) $(MANUAL) $(PACKAGES)

sbom: $(if $(PACKAGE_BUILD),,release) ## Write tcpprobe.spdx.json, THIRD-PARTY-LICENSES and copyright to .build-packages/bill
	SWIFT=$(SWIFT) Packaging/bill-of-materials $(PACKAGED) $(PACKAGES)/bill --linked shared

test-packages: deb tarball ## Install both packages on a minimal Debian 12, and test them as root and as a user (requires root and debootstrap)
	Tests/Packages/run $(PACKAGES) $(PACKAGE_SYSTEMS)

fuzz: $(if $(filter verdicts,$(TARGET)),$(if $(FUZZ_TOOL),,release)) ## Fuzz one component: make fuzz TARGET=script|capture|stream|adapter|tls|websocket|protobuf|results|lsp|dns|verdicts SECONDS=600
	$(if $(filter verdicts,$(TARGET)),Fuzz/verdicts/run $(abspath $(or $(FUZZ_TOOL),$(RELEASE_TOOL))) --seconds $(SECONDS) \
		$(if $(SEED),--seed $(SEED)) $(if $(PAIR),--pair $(PAIR)) $(FUZZ_FLAGS),SWIFT=$(SWIFT) Scripts/fuzz $(TARGET) $(SECONDS))

clean: ## Remove all build products and captures
	rm -rf $(SCRATCH) $(RELEASE_SCRATCH) $(TSAN_SCRATCH) $(PACKAGES) tcpprobe-out
