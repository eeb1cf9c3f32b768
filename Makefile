# SPDX-License-Identifier: Apache-2.0
# One Makefile, no configure step.  `make help` lists the targets; CONTRIBUTING.md says what
# the variants are for.  Objects live in build/<variant>/, so variants never mix.

VARIANT ?= release
WERROR  ?= 0
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
DOCDIR  ?= $(PREFIX)/share/doc/bankfull
SECS    ?= 60
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)
B       := build/$(VARIANT)
VERSION_BASE := 0.1.0

# The layers, highest first: the link order restates who may call whom (tools/layers.txt).
LAYERS := cli agent config rules ledger engine jvm kernel net data sys base
PURE   := base ledger rules
PKGS   := libcurl yaml-0.1 libcgroup jansson

# --- compiler and flags -----------------------------------------------------------------
ifeq ($(origin CC),default)
CC := $(if $(filter clang% fuzz,$(VARIANT)),clang,gcc)
endif
WARN_COMMON := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wformat=2 -Wundef
WARN_SRC    := $(WARN_COMMON) -Wconversion -Wmissing-prototypes -Wswitch-enum
HARDEN      := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
SANITIZE    := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
PIE_LD      := -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack

OPT_release    := -O2 -g -fPIE $(HARDEN)
LD_release     := $(PIE_LD)
OPT_clang      := $(OPT_release)
LD_clang       := $(LD_release)
OPT_asan       := -O1 -g $(SANITIZE)
LD_asan        := $(SANITIZE)
OPT_clang-asan := $(OPT_asan)
LD_clang-asan  := $(LD_asan)
OPT_cov        := -O0 -g --coverage
LD_cov         := --coverage
OPT_fuzz       := -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
LD_fuzz        := $(SANITIZE)
OPT_pure       := -O1 -U_FORTIFY_SOURCE -fno-stack-protector
LD_pure        :=
ifeq ($(origin OPT_$(VARIANT)),undefined)
$(error no such VARIANT '$(VARIANT)': release asan clang clang-asan cov fuzz pure)
endif

pkg_c  := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
pkg_l  := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
OUR_C  := -std=gnu11 -Iinclude -Isrc -D_GNU_SOURCE $(patsubst -I%,-isystem %,$(pkg_c)) $(OPT_$(VARIANT)) \
          $(if $(filter 1,$(WERROR)),-Werror)
COMPILE = $(CC) $(CPPFLAGS) $(OUR_C) $(CFLAGS) -MMD -MP
LINK    = $(CC) $(CFLAGS) $(LD_$(VARIANT)) -Wl,--as-needed $(LDFLAGS)
LDLIBS_ALL = $(pkg_l) -lm $(LDLIBS)

ifeq ($(V),1)
say = @:
Q   :=
else
say = @printf '  %-5s %s\n'
Q   := @
endif

# --- what there is ------------------------------------------------------------------------
objs      = $(patsubst %.c,$B/obj/%.o,$(1))
layer_src = $(filter-out src/cli/main_%.c,$(wildcard src/$(1)/*.c))
ARCHIVES := $(LAYERS:%=$B/lib%.a)
PROGRAMS := $(patsubst src/cli/main_%.c,%,$(wildcard src/cli/main_*.c))
UNIT     := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c))
PROPERTY := $(patsubst tests/property/%.c,$B/tests/%,$(wildcard tests/property/prop_*.c))
REPLAY   := $(patsubst tests/fuzz/%.c,$B/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZERS  := $(patsubst tests/fuzz/%.c,$B/fuzzers/%,$(wildcard tests/fuzz/fuzz_*.c))
TESTBINS := $(UNIT) $(PROPERTY) $(REPLAY)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.PHONY: all tests FORCE

all: $(ARCHIVES) $(PROGRAMS:%=$B/%) $(if $(filter release,$(VARIANT)),$(PROGRAMS)) ## build the programs (V=1 shows commands)
tests: all $(TESTBINS) ## build the test programs as well

# --- rules ----------------------------------------------------------------------------------
# A stamp is rewritten only when its text changes, so it rebuilds what it must and no more.
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' > $@

$B/flags: FORCE
	@pkg-config --exists $(PKGS) 2>/dev/null || { echo "make: $(PKGS): some are missing; run 'make deps'" >&2; exit 1; }
	$(call stamp,$(COMPILE) | $(LINK) $(LDLIBS_ALL) | $(WARN_SRC))

$B/obj/src/%.o: src/%.c $B/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$Q$(COMPILE) $(WARN_SRC) -c -o $@ $<

$B/obj/tests/%.o: tests/%.c $B/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$Q$(COMPILE) -Itests $(WARN_COMMON) -c -o $@ $<

define layer
$B/lib$(1).list: FORCE
	$$(call stamp,$(call layer_src,$(1)))
$B/lib$(1).a: $(call objs,$(call layer_src,$(1))) $B/lib$(1).list
	$$(say) AR $$@
	$$Qrm -f $$@ && $$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach l,$(LAYERS),$(eval $(call layer,$l)))

VERSION := $(shell cat VERSION 2>/dev/null || git describe --tags --match 'v[0-9]*' 2>/dev/null | sed s/^v// || :)
ifeq ($(VERSION),)
VERSION := $(VERSION_BASE)-dev
endif
$B/version.c: FORCE
	$(call stamp,extern const char bankfull_version[]; const char bankfull_version[] = "$(VERSION)";)
$B/version.o: $B/version.c $B/flags
	$Q$(COMPILE) -c -o $@ $<

$(PROGRAMS:%=$B/%): $B/%: $B/obj/src/cli/main_%.o $B/version.o $(ARCHIVES)
	$(say) LD $@
	$Q$(LINK) -o $@ $^ $(LDLIBS_ALL)
$(PROGRAMS): %: $B/%
	@ln -sf $< $@

SUPPORT := $(call objs,$(wildcard tests/support/*.c))
$(UNIT): $B/tests/%: $B/obj/tests/unit/%.o
$(PROPERTY): $B/tests/%: $B/obj/tests/property/%.o
$(REPLAY): $B/tests/%: $B/obj/tests/fuzz/%.o $B/obj/tests/fuzz/replay.o
$(TESTBINS): $(SUPPORT) $B/version.o $(ARCHIVES)
	$(say) LD $@
	@mkdir -p $(@D)
	$Q$(LINK) -o $@ $^ -lcmocka $(LDLIBS_ALL)
$(FUZZERS): $B/fuzzers/%: $B/obj/tests/fuzz/%.o $B/version.o $(ARCHIVES)
	$(say) LD $@
	@mkdir -p $(@D)
	$Q$(LINK) -fsanitize=fuzzer -o $@ $^ $(LDLIBS_ALL)

-include $(shell find $B -name '*.d' 2>/dev/null)

# --- tests ----------------------------------------------------------------------------------
.PHONY: check-unit check-property check-fuzz-replay
check-unit: tests ## unit tests of one VARIANT
	@tests/run-all $(VARIANT):unit
check-property: tests ## property tests of one VARIANT
	@tests/run-all $(VARIANT):property
check-fuzz-replay: tests ## replay the fuzz corpus under one VARIANT
	@tests/run-all $(VARIANT):fuzz-replay

.PHONY: clean help
clean: ## remove everything built
	rm -rf build $(PROGRAMS)
help: ## print this
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24
