# dynax: `make run` serves, `make test` proves, `make help` lists the rest.
#
# Layers are archives, linked upper to lower: a call that points upwards fails at link.
#   libprotocol.a <- libstore.a <- libproxy.a <- dynaxd      libprotocol.a <- libdynax <- dynax
# SAN=address|undefined|thread on any target builds apart, under build/SAN. FAULTS=1 builds the proxy apart, under faults/
# there, with its fault points (proxy/fault_point.h). V=1 shows the commands.

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
SAN     ?=
FAULTS  ?=
V       ?=
CORES   := $(shell nproc)
ifeq ($(origin CC),default)
CC := gcc
endif

# S holds what knows nothing of faults, B the rest.
S := build$(if $(SAN),/$(SAN))
B := $(S)$(if $(FAULTS),/faults)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-format-nonliteral \
	$(if $(WERROR),-Werror)
OPT  := $(if $(SAN),-O1 -fno-omit-frame-pointer -fsanitize=$(SAN) $(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=all),-O2)
CPPFLAGS += -I. -D_GNU_SOURCE -DDYNAX_VERSION='"$(VERSION)"' -DMDB_MAXKEYSIZE=511
CFLAGS   += -std=c17 -g $(OPT) -fPIC -pthread $(WARN)
LDFLAGS  += -pthread $(if $(SAN),-fsanitize=$(SAN))

PROTOCOL_LIBS := -lyajl -lmbedcrypto -lz -lm
STORE_LIBS    := -llmdb -lxxhash
PROXY_LIBS    := -levent -levent_pthreads -lhttp_parser -ldeflate -luring
CLIENT_LIBS   := -levent_core

src = $(wildcard $(1)/*.c)
obj = $(patsubst %.c,$(S)/obj/%.o,$(filter-out proxy/%,$(1))) $(patsubst %.c,$(B)/obj/%.o,$(filter proxy/%,$(1)))

PROTOCOL_SRC := $(call src,protocol)
STORE_SRC    := $(call src,store) $(call src,store/engine)
PROXY_SRC    := $(filter-out proxy/main.c,$(call src,proxy))
CLIENT_SRC   := $(call src,protocol/client)
TOOLS_SRC    := $(call src,tools) $(call src,bench/load)

ARCHIVES := $(S)/libprotocol.a $(S)/libstore.a $(B)/libproxy.a $(S)/libdynax.a
PROGRAMS := $(B)/dynaxd $(S)/dynax
TESTS    := $(S)/test-protocol $(S)/test-store $(B)/test-proxy $(S)/test-client
BENCHES  := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))

.PHONY: all programs run bench format clean help
programs: $(PROGRAMS)
all: programs $(S)/libdynax.a $(S)/libdynax.so

include mk/deps.mk
include mk/test.mk
include mk/install.mk

# Serve from ./dynax-data until Ctrl-C.
run: deps
	+@$(MAKE) --no-print-directory -j$(CORES) all
	$(B)/dynaxd --data ./dynax-data

bench: all $(BENCHES)

# The lines that differ from SINCE, a commit.
SINCE ?= HEAD
format:
	$(call install-packages,clang-format)
	git clang-format --extensions c,h $(SINCE)

clean:
	rm -rf build

help:
	@echo 'make              build dynaxd, dynax and libdynax under build/'
	@echo 'make run          install what is needed, build, and serve from ./dynax-data'
	@echo 'make test         everything CI runs: unit, integration, sanitizers, fuzzing'
	@echo 'make unit         unit tests            make integration   tests of the real daemon'
	@echo 'make sanitize     both under sanitizers make fuzz          bounded fuzzing (FUZZ_SECONDS=10)'
	@echo 'make bench        build the benchmarks of bench/ (bench/README.md)'
	@echo 'make install      PREFIX=/usr/local DESTDIR= (and LIBDIR, MANDIR, UNITDIR, ...: mk/install.mk); make uninstall'
	@echo 'make deps         install the packages needed; deps-test: those of the tests too'
	@echo 'make format       clang-format the lines that differ from SINCE=HEAD'
	@echo 'make clean        remove build/'
	@echo 'SAN=address|undefined|thread on any target builds apart, under build/SAN; V=1 shows the commands'

## ---- building ----

Q   := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)	$@')
link = $(Q)$(CC) $(LDFLAGS) $(filter %.o %.a,$^) -o $@

# What is compiled or linked otherwise is made again. (-Werror changes nothing in an object.)
FLAGS := $(CC) $(CPPFLAGS) $(filter-out -Werror,$(CFLAGS)) $(LDFLAGS)
$(S)/flags: export FLAGS := $(FLAGS)
$(S)/flags: FORCE
	@mkdir -p $(@D) && { [ "$$FLAGS" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$FLAGS" >$@; }
FORCE:

define compile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
endef

$(S)/obj/%.o: %.c $(S)/flags
	$(compile)
ifdef FAULTS
$(B)/obj/%.o: CPPFLAGS += -DDYNAX_FAULTS
$(B)/obj/%.o: %.c $(S)/flags
	$(compile)
endif

$(S)/libprotocol.a: $(call obj,$(PROTOCOL_SRC))
$(S)/libstore.a: $(call obj,$(STORE_SRC))
$(B)/libproxy.a: $(call obj,$(PROXY_SRC))
$(S)/libdynax.a: $(call obj,$(CLIENT_SRC) $(PROTOCOL_SRC))
$(ARCHIVES):
	$(call say,AR)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(S)/libdynax.so: $(call obj,$(CLIENT_SRC) $(PROTOCOL_SRC)) protocol/client/dynax.map
	$(call say,LD)
	$(link) -shared -Wl,-soname,libdynax.so.0 -Wl,-z,defs -Wl,--version-script=protocol/client/dynax.map \
		$(CLIENT_LIBS) $(PROTOCOL_LIBS)

$(B)/dynaxd: $(call obj,proxy/main.c) $(B)/libproxy.a $(S)/libstore.a $(S)/libprotocol.a
	$(call say,LD)
	$(link) $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)

$(S)/dynax: $(call obj,$(TOOLS_SRC)) $(S)/libdynax.a
	$(call say,LD)
	$(link) $(CLIENT_LIBS) $(PROTOCOL_LIBS)

$(B)/bench/%: $(S)/obj/bench/%.o $(B)/libproxy.a $(S)/libstore.a $(S)/libprotocol.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(link) -lmsgpackc $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)

## ---- unit tests: a layer's tests link its archive and those below, nothing above ----

SUPPORT := $(call obj,$(call src,tests/support))
$(S)/test-protocol: $(call obj,$(call src,tests/unit/protocol)) $(SUPPORT) $(S)/libprotocol.a
	$(call say,LD)
	$(link) -lcriterion -lmsgpackc -lgmp $(PROTOCOL_LIBS)
$(S)/test-store: $(call obj,$(call src,tests/unit/store) $(call src,tests/unit/store/engine)) $(SUPPORT) $(S)/libstore.a $(S)/libprotocol.a
	$(call say,LD)
	$(link) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -lcriterion $(STORE_LIBS) $(PROTOCOL_LIBS)
$(B)/test-proxy: $(call obj,$(call src,tests/unit/proxy)) $(SUPPORT) $(B)/libproxy.a $(S)/libstore.a $(S)/libprotocol.a
	$(call say,LD)
	$(link) -lcriterion $(PROXY_LIBS) $(STORE_LIBS) $(PROTOCOL_LIBS)
$(S)/test-client: $(call obj,$(call src,tests/unit/client)) $(SUPPORT) $(S)/libdynax.a
	$(call say,LD)
	$(link) -lcriterion $(CLIENT_LIBS) $(PROTOCOL_LIBS)

# Objects on the way to a program are kept.
.SECONDARY:

-include $(shell find $(sort $(S)/obj $(B)/obj) -name '*.d' 2>/dev/null)
