# dynax: `make run` serves, `make test` proves, `make help` lists the rest.
#
# Layers are archives, linked upper to lower: a call that points upwards fails at link.
#   libprotocol.a <- libstore.a <- libproxy.a <- dynaxd      libprotocol.a <- libdynax <- dynax
# SAN=address|undefined|thread on any target builds apart, under build/SAN; so does FAULTS=1 (proxy/fault_point.h).

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
SAN     ?=
FAULTS  ?=

B := build$(if $(SAN),/$(SAN))$(if $(FAULTS),/faults)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-format-nonliteral \
	$(if $(WERROR),-Werror)
OPT  := $(if $(SAN),-O1 -fno-omit-frame-pointer -fsanitize=$(SAN) $(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=all),-O2)
CPPFLAGS += -I. -D_GNU_SOURCE -DDYNAX_VERSION='"$(VERSION)"' -DMDB_MAXKEYSIZE=511 $(if $(FAULTS),-DDYNAX_FAULTS)
CFLAGS   += -std=c17 -g $(OPT) -fPIC -pthread $(WARN)
LDFLAGS  += -pthread $(if $(SAN),-fsanitize=$(SAN))

PROTOCOL_LIBS := -lyajl -lmbedcrypto -lz -lm
STORE_LIBS    := -llmdb -lxxhash
PROXY_LIBS    := -levent -levent_pthreads -lhttp_parser
CLIENT_LIBS   := -levent_core

src = $(wildcard $(1)/*.c)
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

PROTOCOL_SRC := $(call src,protocol)
STORE_SRC    := $(call src,store) $(call src,store/engine)
PROXY_SRC    := $(filter-out proxy/main.c,$(call src,proxy))
CLIENT_SRC   := $(call src,protocol/client)
TOOLS_SRC    := $(call src,tools) $(call src,bench/load)

ARCHIVES := $(B)/libprotocol.a $(B)/libstore.a $(B)/libproxy.a $(B)/libdynax.a
PROGRAMS := $(B)/dynaxd $(B)/dynax
TESTS    := $(B)/test-protocol $(B)/test-store $(B)/test-proxy $(B)/test-client
BENCHES  := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))

.PHONY: all run bench format clean help
all: $(PROGRAMS) $(B)/libdynax.a $(B)/libdynax.so

include mk/deps.mk
include mk/test.mk
include mk/install.mk

# Serve from ./dynax-data until Ctrl-C.
run: deps
	$(MAKE) all
	$(B)/dynaxd --data dynax-data

bench: all $(BENCHES)

format:
	clang-format -i $(shell git ls-files '*.c' '*.h')

clean:
	rm -rf build

help:
	@echo 'make              build dynaxd, dynax and libdynax under build/'
	@echo 'make run          install what is needed, build, and serve from ./dynax-data'
	@echo 'make test         everything CI runs: unit, integration, sanitizers, fuzzing'
	@echo 'make unit         unit tests            make integration   tests of the real daemon'
	@echo 'make sanitize     both under sanitizers make fuzz          bounded fuzzing (FUZZ_SECONDS=10)'
	@echo 'make bench        build the benchmarks of bench/ (bench/README.md)'
	@echo 'make install      PREFIX=/usr/local DESTDIR='
	@echo 'make deps         install the packages needed; deps-test: those of the tests too'
	@echo 'make format       clang-format          make clean         remove build/'
	@echo 'SAN=address|undefined|thread on any target builds apart, under build/SAN'

## ---- building ----

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/libprotocol.a: $(call obj,$(PROTOCOL_SRC))
$(B)/libstore.a: $(call obj,$(STORE_SRC))
$(B)/libproxy.a: $(call obj,$(PROXY_SRC))
$(B)/libdynax.a: $(call obj,$(CLIENT_SRC) $(PROTOCOL_SRC))
$(ARCHIVES):
	@rm -f $@
	ar rcs $@ $^

$(B)/libdynax.so: $(call obj,$(CLIENT_SRC) $(PROTOCOL_SRC)) protocol/client/dynax.map
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libdynax.so.0 -Wl,-z,defs -Wl,--version-script=protocol/client/dynax.map \
		$(filter %.o,$^) -o $@ $(CLIENT_LIBS) $(PROTOCOL_LIBS)

$(B)/dynaxd: $(call obj,proxy/main.c) $(B)/libproxy.a $(B)/libstore.a $(B)/libprotocol.a
	$(CC) $(LDFLAGS) $^ -o $@ $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)

$(B)/dynax: $(call obj,$(TOOLS_SRC)) $(B)/libdynax.a
	$(CC) $(LDFLAGS) $^ -o $@ $(CLIENT_LIBS) $(PROTOCOL_LIBS)

$(B)/bench/%: $(B)/obj/bench/%.o $(B)/libproxy.a $(B)/libstore.a $(B)/libprotocol.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@ -lmsgpackc $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)

## ---- unit tests: a layer's tests link its archive and those below, nothing above ----

SUPPORT := $(call obj,$(call src,tests/support))
$(B)/test-protocol: $(call obj,$(call src,tests/unit/protocol)) $(SUPPORT) $(B)/libprotocol.a
	$(CC) $(LDFLAGS) $^ -o $@ -lcriterion -lmsgpackc -lgmp $(PROTOCOL_LIBS)
$(B)/test-store: $(call obj,$(call src,tests/unit/store) $(call src,tests/unit/store/engine)) $(SUPPORT) $(B)/libstore.a $(B)/libprotocol.a
	$(CC) $(LDFLAGS) $^ -o $@ -lcriterion $(STORE_LIBS) $(PROTOCOL_LIBS)
$(B)/test-proxy: $(call obj,$(call src,tests/unit/proxy)) $(SUPPORT) $(B)/libproxy.a $(B)/libstore.a $(B)/libprotocol.a
	$(CC) $(LDFLAGS) $^ -o $@ -lcriterion $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)
$(B)/test-client: $(call obj,$(call src,tests/unit/client)) $(SUPPORT) $(B)/libdynax.a
	$(CC) $(LDFLAGS) $^ -o $@ -lcriterion $(CLIENT_LIBS) $(PROTOCOL_LIBS)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
