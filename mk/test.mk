# How dynax is proved. `make test` is all of it; each part can be run alone.
#
#   unit          Criterion, a binary a layer, linked with that layer's archive and those below
#   integration   the real daemon under boto3, the JavaScript SDK and raw sockets
#   lint          everything compiles without a word under clang too
#   sanitize      both again under address+undefined, and what threads share under thread
#   fuzz          every decoder, bounded, from the seed corpus
#
# Builds use every core. Tests run one suite at a time, since many of them measure time; fuzzers do not, and share the cores.

FUZZ_SECONDS ?= 10
# Debian's own Python: the packages of deps-test belong to it.
PYTHON ?= /usr/bin/python3
PYTEST := $(PYTHON) -m pytest -q -p no:cacheprovider

BUILD = +@$(MAKE) --no-print-directory -j$(CORES)
RUN   = +@$(MAKE) --no-print-directory -j1

# A sanitizer's report must abort: Criterion takes a test whose process merely exits for one that passed.
export ASAN_OPTIONS := abort_on_error=1:$(ASAN_OPTIONS)
export UBSAN_OPTIONS := abort_on_error=1:print_stacktrace=1:$(UBSAN_OPTIONS)
export TSAN_OPTIONS := abort_on_error=1:halt_on_error=1:suppressions=$(CURDIR)/tests/tsan.supp:$(TSAN_OPTIONS)
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: test unit integration integration-c integration-py integration-js faults lint sanitize fuzz fuzzers
.PHONY: unit-programs check-programs

test: deps-test
	$(BUILD) WERROR=1 all unit-programs check-programs lint
	$(BUILD) WERROR=1 FAULTS=1 check-programs
	$(RUN) unit integration
	$(RUN) sanitize
	$(RUN) fuzz

## ---- unit ----

unit-programs: $(TESTS)
unit: $(TESTS)
	@for t in $(TESTS); do echo "== $$t"; $$t --timeout 240 -j2 || exit 1; done

## ---- integration ----

# The tests in Python use what those in JavaScript install.
integration: integration-js integration-py integration-c
	$(RUN) FAULTS=1 faults

integration-py: $(PROGRAMS)
	DYNAXD=$(B)/dynaxd DYNAX=$(S)/dynax $(PYTEST) tests/integration

# The tests run as copies beside their installed packages: nothing is written outside build/. A folder with a package.json
# of its own has packages of its own.
JS_FILES := $(patsubst tests/integration/%,build/%,$(filter-out %/node_modules/%,$(wildcard $(addprefix tests/integration/js/,*.mjs */*.mjs))))
JS_MODULES := $(patsubst tests/integration/%/package.json,build/%/node_modules,$(wildcard $(addprefix tests/integration/js/,package.json */package.json)))

$(JS_FILES): build/%: tests/integration/%
	@mkdir -p $(@D) && cp $< $@
$(JS_MODULES): build/%/node_modules: tests/integration/%/package.json
	@mkdir -p $(@D) && cp $< $(@D)/
	cd $(@D) && npm install --no-audit --no-fund --no-package-lock --loglevel=error
	@touch $@

integration-js: $(PROGRAMS) $(JS_FILES) $(JS_MODULES)
	DYNAXD=$(B)/dynaxd node --test $(filter %.test.mjs,$(JS_FILES))

# What threads and clients see of the caches is linearizable.
check-programs: $(B)/cache_race $(S)/coherence $(B)/dynaxd
integration-c: check-programs
	$(B)/cache_race 3
	$(S)/coherence $(B)/dynaxd 5
	$(S)/coherence $(B)/dynaxd 3 0 --hand-over always --item-ttl 5 --query-ttl 5

# It no longer is when the epoch rule is taken out, so that the tests themselves are tested. With FAULTS=1 only.
faults: check-programs
	DYNAX_FAULTS_BUILD=1 DYNAXD=$(B)/dynaxd $(PYTEST) tests/integration/test_herd.py tests/integration/test_ring_fails.py
	DYNAX_FAULT=fill-delay=3000 $(S)/coherence $(B)/dynaxd 3
	@for fault in no-epoch-check no-query-epoch; do echo "== must fail: $$fault"; \
		DYNAX_FAULT=$$fault $(B)/cache_race 2 2>/dev/null; [ $$? = 1 ] || exit 1; \
		DYNAX_FAULT=$$fault,fill-delay=3000 $(S)/coherence $(B)/dynaxd 3 2>/dev/null; [ $$? = 1 ] || exit 1; done

$(B)/cache_race: $(call obj,tests/integration/cache_race.c tests/integration/history.c) $(B)/libproxy.a $(S)/libstore.a $(S)/libprotocol.a
	$(call say,LD)
	$(link) $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)
$(S)/coherence: $(call obj,tests/integration/coherence.c tests/integration/history.c) $(S)/libprotocol.a
	$(call say,LD)
	$(link) $(PROTOCOL_LIBS)

## ---- lint ----

lint:
	@echo '  LINT	clang'
	@find bench examples protocol proxy store tests tools -name '*.c' | xargs -n 16 -P $(CORES) clang -fsyntax-only $(CPPFLAGS) -Iprotocol/client -std=c17 $(WARN) -Werror

## ---- sanitizers ----

sanitize:
	$(BUILD) SAN=address,undefined programs unit-programs
	$(RUN) SAN=address,undefined unit integration-py
	$(BUILD) SAN=thread check-programs unit-programs
	$(RUN) SAN=thread unit integration-c

## ---- fuzzing ----

# A fuzzer: the layers built by clang with coverage, address and undefined; what it runs is bounded by time.
FUZZ := SAN=fuzzer-no-link,address,undefined
FUZZ_BIN := build/fuzzer-no-link,address,undefined
FUZZERS := $(notdir $(basename $(wildcard tests/fuzz/fuzz_*.c)))

fuzz: deps-test
	$(BUILD) CC=clang $(FUZZ) WERROR=1 fuzzers
	@printf '%s\n' $(FUZZERS) | xargs -P $(CORES) -n 1 sh tests/fuzz/run $(FUZZ_BIN) $(FUZZ_SECONDS)

fuzzers: $(addprefix $(B)/,$(FUZZERS))
$(B)/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(B)/libproxy.a $(S)/libstore.a $(S)/libprotocol.a
	$(call say,LD)
	$(link) -fsanitize=fuzzer,address,undefined $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)
