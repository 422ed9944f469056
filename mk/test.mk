# How dynax is proved. `make test` is all of it; each part can be run alone.
#
#   unit          Criterion, a binary a layer, linked with that layer's archive and those below
#   integration   the real daemon under boto3, the JavaScript SDK and raw sockets
#   sanitize      both again under address+undefined, and what threads share under thread
#   fuzz          every decoder, bounded, from the seed corpus

FUZZ_SECONDS ?= 10
# Debian's own Python: the packages of deps-test belong to it.
PYTHON ?= /usr/bin/python3
PYTEST := $(PYTHON) -m pytest -q -p no:cacheprovider
# The mappers ask for newer parts of the SDK than the tour: a package of their own.
JS_TESTS := tests/integration/js tests/integration/js/mappers
NODE_MODULES := $(JS_TESTS:=/node_modules)

.PHONY: test unit integration integration-c integration-py integration-js sanitize fuzz lint

test: deps-test
	$(MAKE) WERROR=1 all unit integration
	$(MAKE) WERROR=1 lint
	$(MAKE) sanitize
	$(MAKE) fuzz

unit: $(TESTS)
	@for t in $(TESTS); do echo "== $$t"; \
		TSAN_OPTIONS="suppressions=tests/tsan.supp $$TSAN_OPTIONS" $$t --timeout 240 -j2 || exit 1; done

integration: integration-py integration-js integration-c

integration-py: $(PROGRAMS)
	DYNAXD=$(B)/dynaxd DYNAX=$(B)/dynax $(PYTEST) tests/integration

$(NODE_MODULES): %/node_modules: %/package.json
	cd $* && npm install --no-audit --no-fund --no-package-lock --loglevel=error
	@touch $@

integration-js: $(PROGRAMS) $(NODE_MODULES)
	DYNAXD=$(B)/dynaxd node --test $(wildcard $(JS_TESTS:=/*.test.mjs))

# What threads and clients see of the caches is linearizable; and no longer is when the epoch rule is taken out, so that
# the tests themselves are tested.
integration-c: $(B)/cache_race $(B)/coherence $(B)/dynaxd
	TSAN_OPTIONS="suppressions=tests/tsan.supp $$TSAN_OPTIONS" $(B)/cache_race 3
	TSAN_OPTIONS="suppressions=tests/tsan.supp $$TSAN_OPTIONS" $(B)/coherence $(B)/dynaxd 5
	TSAN_OPTIONS="suppressions=tests/tsan.supp $$TSAN_OPTIONS" $(B)/coherence $(B)/dynaxd 3 0 --hand-over always --item-ttl 5 --query-ttl 5
	$(MAKE) SAN= FAULTS=1 faults

$(B)/cache_race: $(call obj,tests/integration/cache_race.c tests/integration/history.c) $(B)/libproxy.a $(B)/libstore.a $(B)/libprotocol.a
	$(CC) $(LDFLAGS) $^ -o $@ $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)
$(B)/coherence: $(call obj,tests/integration/coherence.c tests/integration/history.c) $(B)/libprotocol.a
	$(CC) $(LDFLAGS) $^ -o $@ $(PROTOCOL_LIBS)

.PHONY: faults
faults: $(B)/cache_race $(B)/coherence $(B)/dynaxd
	DYNAX_FAULTS_BUILD=1 DYNAXD=$(B)/dynaxd $(PYTEST) tests/integration/test_herd.py
	DYNAX_FAULT=fill-delay=3000 $(B)/coherence $(B)/dynaxd 3
	@for fault in no-epoch-check no-query-epoch; do echo "== must fail: $$fault"; \
		DYNAX_FAULT=$$fault $(B)/cache_race 2 2>/dev/null; [ $$? = 1 ] || exit 1; \
		DYNAX_FAULT=$$fault,fill-delay=3000 $(B)/coherence $(B)/dynaxd 3 2>/dev/null; [ $$? = 1 ] || exit 1; done

# Everything compiles without a word under clang too.
lint:
	$(MAKE) CC=clang B=build/clang WERROR=1 all

# A sanitizer's report must abort: Criterion takes a test whose process merely exits for one that passed.
sanitize: export ASAN_OPTIONS := abort_on_error=1:$(ASAN_OPTIONS)
sanitize: export UBSAN_OPTIONS := abort_on_error=1:print_stacktrace=1:$(UBSAN_OPTIONS)
sanitize: export TSAN_OPTIONS := abort_on_error=1:halt_on_error=1:$(TSAN_OPTIONS)
sanitize:
	$(MAKE) SAN=address,undefined unit integration-py
	$(MAKE) SAN=thread unit integration-c

# A fuzzer: the layers built by clang with coverage, address and undefined; -runs are bounded by time.
fuzz: deps-test
	$(MAKE) CC=clang SAN=fuzzer-no-link,address,undefined fuzzers
	@for f in $(notdir $(basename $(wildcard tests/fuzz/fuzz_*.c))); do echo "== $$f"; \
		mkdir -p build/corpus/$$f && \
		build/fuzzer-no-link,address,undefined/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-artifact_prefix=build/corpus/ -verbosity=0 build/corpus/$$f tests/fuzz/corpus/$${f#fuzz_} || exit 1; done

.PHONY: fuzzers
fuzzers: $(patsubst tests/fuzz/%.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
$(B)/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(B)/libproxy.a $(B)/libstore.a $(B)/libprotocol.a
	$(CC) $(LDFLAGS) -fsanitize=fuzzer,address,undefined $^ -o $@ $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)
