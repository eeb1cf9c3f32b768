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

# The layers, highest first; tools/layers.txt says who may include whom.
LAYERS := cli watch agent collector kube plan config rules ledger wire engine jvm kernel net data sys base
PURE   := base ledger rules
PKGS   := libcurl libwebsockets libuv openssl yaml-0.1 libcgroup jansson sqlite3

# --- compiler and flags -----------------------------------------------------------------
# The one variant of another machine: Debian's cross compiler, and the libraries of that machine beside our own.
CROSS := $(if $(filter arm64,$(VARIANT)),aarch64-linux-gnu)
ifeq ($(origin CC),default)
CC := $(if $(filter clang% fuzz,$(VARIANT)),clang,$(CROSS:%=%-)gcc)
endif
ifneq ($(CROSS),)
ifeq ($(origin AR),default)
AR := $(CROSS)-ar
endif
endif
NM := $(CROSS:%=%-)nm
PKG_CONFIG := $(CROSS:%=PKG_CONFIG_LIBDIR=/usr/lib/%/pkgconfig:/usr/share/pkgconfig) pkg-config
# A message cut by snprintf is still a message: its buffers have a size on purpose.
WARN_COMMON := -Wall -Wextra $(if $(findstring clang,$(CC)),,-Wno-format-truncation) -Wshadow -Wvla -Wstrict-prototypes -Wformat=2 -Wundef
WARN_SRC    := $(WARN_COMMON) -Wconversion -Wmissing-prototypes -Wswitch-enum
HARDEN      := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
SANITIZE    := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
PIE_LD      := -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack

OPT_release    := -O2 -g -fPIE $(HARDEN)
LD_release     := $(PIE_LD)
OPT_arm64      := $(OPT_release)
LD_arm64       := $(LD_release)
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
$(error no such VARIANT '$(VARIANT)': release asan clang clang-asan cov fuzz pure arm64)
endif

pkg_c  := $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
pkg_l  := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)
OUR_C  := -std=gnu11 -Iinclude -Isrc -D_GNU_SOURCE $(patsubst -I%,-isystem %,$(pkg_c)) $(OPT_$(VARIANT))
COMPILE = $(CC) $(CPPFLAGS) $(OUR_C) $(CFLAGS) -MMD -MP
# Not part of the flags stamp: switching it does not rebuild.  CI starts from nothing.
STRICT  = $(if $(filter 1,$(WERROR)),-Werror)
LINK    = $(CC) $(CFLAGS) $(LD_$(VARIANT)) -Wl,--as-needed $(LDFLAGS)
LDLIBS_ALL = $(pkg_l) -lm $(LDLIBS)
# What one program alone is linked with.
LIBS_bankfull-watch = $(shell $(PKG_CONFIG) --libs ncursesw 2>/dev/null || echo -lncursesw -ltinfo)

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
bins      = $(patsubst tests/$(1)/%.c,$B/tests/%,$(wildcard tests/$(1)/$(2)_*.c))
ARCHIVES := $(LAYERS:%=$B/lib%.a)
PROGRAMS := $(patsubst src/cli/main_%.c,%,$(wildcard src/cli/main_*.c))
UNIT     := $(call bins,unit,test)
PROPERTY := $(call bins,property,prop)
REPLAY   := $(call bins,fuzz,fuzz)
FAULT    := $(call bins,fault,fault)
FUZZERS  := $(patsubst tests/fuzz/%.c,$B/fuzzers/%,$(wildcard tests/fuzz/fuzz_*.c))
TESTBINS := $(UNIT) $(PROPERTY) $(REPLAY) $(FAULT)
FAULTED  := $(if $(filter bankfull,$(PROGRAMS)),$B/bankfull-fault) $(if $(findstring asan,$(VARIANT)),,$B/tests/fault-shim.so)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.PHONY: all tests FORCE
all: $(ARCHIVES) $(PROGRAMS:%=$B/%) $(if $(filter release,$(VARIANT)),$(PROGRAMS)) ## build the programs (V=1 shows commands)
tests: all $(TESTBINS) $(FAULTED) $B/replay ## build the test programs as well

# --- rules ----------------------------------------------------------------------------------
# A stamp is rewritten only when its text changes, so it rebuilds what it must and no more.
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' > $@

$B/flags: FORCE
	@$(PKG_CONFIG) --exists $(PKGS) 2>/dev/null || { echo "make: some of $(PKGS) are missing; run 'make deps'" >&2; exit 1; }
	$(call stamp,$(COMPILE) | $(LINK) $(LDLIBS_ALL) | $(WARN_SRC))

$B/obj/src/%.o: src/%.c $B/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$Q$(COMPILE) $(WARN_SRC) $(STRICT) -c -o $@ $<

$B/obj/tests/%.o: tests/%.c $B/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$Q$(COMPILE) -Itests $(WARN_COMMON) $(STRICT) -c -o $@ $<

define layer
$B/lib$(1).list: FORCE
	$$(call stamp,$(call layer_src,$(1)))
$B/lib$(1).a: $(call objs,$(call layer_src,$(1))) $B/lib$(1).list
	$$(say) AR $$@
	$$Qrm -f $$@ && $$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach l,$(LAYERS),$(eval $(call layer,$l)))

VERSION := $(shell cat VERSION 2>/dev/null || git describe --tags --match 'v[0-9]*' 2>/dev/null | sed s/^v//)
VERSION := $(or $(VERSION),$(VERSION_BASE)-dev)
$B/version.c: FORCE
	$(call stamp,extern const char bankfull_version[]; const char bankfull_version[] = "$(VERSION)";)
$B/version.o: $B/version.c $B/flags
	$Q$(COMPILE) -c -o $@ $<

# The pages of the rules, which `bankfull explain` prints and the collector serves.
# The list is a stamp: a page that is removed counts too.
PAGES := $(wildcard docs/rules/*.md)
$B/pages.list: FORCE
	$(call stamp,$(PAGES))
$B/pages.c: tools/embed-pages $(PAGES) $B/pages.list
	$Qtools/embed-pages $(PAGES) >$@
$B/pages.o: $B/pages.c $B/flags
	$Q$(COMPILE) $(WARN_SRC) $(STRICT) -c -o $@ $<
$B/librules.a: $B/pages.o

# What the collector serves to browsers. DYGRAPHS: where the chart library lies (docs/decisions/charts.md).
# Asked for by wildcard and kept as a stamp: a file that comes or goes counts too.
export DYGRAPHS ?= /usr/share/javascript/dygraphs
WEB := $(wildcard src/collector/web/*.html src/collector/web/*.css src/collector/web/*.js src/collector/web/*.svg \
	docs/*.md docs/*.json) $(PAGES) $(wildcard $(DYGRAPHS)/dygraph.min.js $(DYGRAPHS)/dygraph.min.css) NOTICE
$B/web.list: FORCE
	$(call stamp,$(WEB))
$B/web_assets.c: tools/embed-web $(WEB) $B/web.list
	$(say) EMBED $@
	$Qtools/embed-web $B/web $(DYGRAPHS) >$@
$B/web_assets.o: $B/web_assets.c $B/flags
	$Q$(COMPILE) $(WARN_SRC) $(STRICT) -c -o $@ $<
$B/libcollector.a: $B/web_assets.o

# A program or test is its own object, what it shares, and every archive (a group: the names of
# the nouns live in ledger, which lower layers may print).
link = @mkdir -p $(@D)$(newline)	$Q$(LINK) $(1) -o $@ $(filter %.o,$^) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(2) $(LDLIBS_ALL)
define newline


endef
$(PROGRAMS:%=$B/%): $B/%: $B/obj/src/cli/main_%.o $B/version.o $(ARCHIVES)
	$(say) LD $@
	$(call link,,$(LIBS_$(@F)))
$(PROGRAMS): %: $B/%
	@ln -sf $< $@

$(UNIT): $B/tests/%: $B/obj/tests/unit/%.o
$(PROPERTY): $B/tests/%: $B/obj/tests/property/%.o
$(REPLAY): $B/tests/%: $B/obj/tests/fuzz/%.o $B/obj/tests/fuzz/replay.o
PODS := $(call objs,$(filter-out tests/replay/replay.c,$(wildcard tests/replay/*.c)))
$B/tests/prop_replay: $(PODS)
$(UNIT) $(PROPERTY) $(REPLAY): $(call objs,$(wildcard tests/support/*.c)) $B/version.o $(ARCHIVES)
	$(say) LD $@
	$(call link,,-lcmocka)
$(FUZZERS): $B/fuzzers/%: $B/obj/tests/fuzz/%.o $B/version.o $(ARCHIVES)
	$(say) LD $@
	$(call link,-fsanitize=fuzzer)

$B/replay: $B/obj/tests/replay/replay.o $(PODS) $(call objs,tests/support/prng.c tests/support/snap.c) $B/version.o $(ARCHIVES)
	$(say) LD $@
	$(call link,)

# Failing calls on purpose: one library to preload, and, for sanitized programs, --wrap.
SHIM_C := tests/fault/shim.c tests/fault/fault.h $B/flags
$B/tests/fault-shim.so: $(SHIM_C)
	@mkdir -p $(@D)
	$Q$(COMPILE) -Itests $(WARN_COMMON) $(STRICT) -U_FORTIFY_SOURCE -fPIC -shared -o $@ $< -ldl
$B/fault-wrap.o: $(SHIM_C)
	$Q$(COMPILE) -Itests $(WARN_COMMON) $(STRICT) -U_FORTIFY_SOURCE -DFAULT_WRAP -c -o $@ $<
wraps = $$($(NM) $B/fault-wrap.o | sed -n 's/.* T __wrap_/-Wl,--wrap=/p')
$B/bankfull-fault: $B/obj/src/cli/main_bankfull.o $B/fault-wrap.o $B/version.o $(ARCHIVES)
	$(call link,$(wraps),-ldl)
$(FAULT): $B/tests/%: $B/obj/tests/fault/%.o $B/fault-wrap.o $B/version.o $(ARCHIVES)
	$(say) LD $@
	$(call link,$(wraps),-lcmocka -ldl)

-include $(shell find $B -name '*.d' 2>/dev/null)

# --- tests ----------------------------------------------------------------------------------
KINDS := unit property golden fuzz-replay fault cli integration
.PHONY: deps check $(KINDS:%=check-%) golden-update fuzz fuzzers coverage mutate bench demo
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
C_TESTS := unit,property,fuzz-replay,golden
deps: ## install what is missing (as root or with sudo)
	@tools/deps build run check lint
check: ## install, build and run every test, under gcc and clang, plain and sanitized
	@tools/deps build run check
	@for v in release asan clang clang-asan; do $(SUBMAKE) VARIANT=$$v WERROR=1 tests || exit 1; done
	@tests/run-all asan:fault release:fault,cli,$(C_TESTS) asan:$(C_TESTS) clang:$(C_TESTS) clang-asan:$(C_TESTS) \
		release:integration
$(KINDS:%=check-%): check-%: tests ## one kind under VARIANT: unit property golden fuzz-replay fault cli integration; ONLY=glob
	@tests/run-all $(VARIANT):$*
.PHONY: check-lab
check-lab: all ## real limits and real OOM kills, each on a kernel of its own, and the score; SCENARIO=name for one; no part of check
	@tools/deps build run lab
	@BUILD=$B tests/e2e/lab/prove $(SCENARIO)
.PHONY: check-k8s
check-k8s: all ## the chart in a real API server: injection, tokens, rights, both helms; PART=name for one; no part of check
	@tools/deps build run lab k8s
	@BUILD=$B tests/e2e/k8s/prove $(PART)
.PHONY: check-upgrade
check-upgrade: all ## agents and collectors of earlier commits, built from the history, beside those of now; no part of check
	@tools/deps build run
	@BUILD=$B tests/e2e/upgrade/prove
.PHONY: check-arm64 version
check-arm64: ## cross-built for arm64, unit, golden and fuzz-replay under qemu-user; ONLY=glob; root, Linux 6.7; no part of check
	@tools/deps arm64
	@tests/e2e/arm64/prove
version:
	@echo '$(VERSION)'
.PHONY: replay
replay: $B/replay ## simulated pod-days through the shipped core, minutes: make replay DAYS=1000 LEAKS=6 SEED=20240229
	@$B/replay -d '$(or $(DAYS),1000)' -l '$(or $(LEAKS),6)' -s '$(or $(SEED),20240229)' -o build/replay.json
.PHONY: e2e-shots
e2e-shots: all ## pictures of every page, light and dark, in three widths, in build/e2e; ONLY=glob of pages. Look at them
	@BUILD=$B tests/e2e/shots '$(or $(ONLY),*)'
golden-update: all ## rewrite tests/golden; read the diff before you commit it
	@BANKFULL=$B/bankfull tests/golden/run --update
fuzz: ## fuzz one parser or all: make fuzz FUZZ=smaps SECS=60
	@$(SUBMAKE) VARIANT=fuzz fuzzers
	@tools/fuzz build/fuzz/fuzzers '$(FUZZ)' $(SECS)
fuzzers: $(FUZZERS)
coverage: ## lines and branches that the C tests reach, by file
	@$(SUBMAKE) VARIANT=cov tests
	@find build/cov -name '*.gcda' -delete
	@tests/run-all cov:$(C_TESTS)
	@tools/coverage build/cov
mutate: tests ## operators of ledger and rules flipped one by one: which flips no test sees; ONLY='*floor*'
	@tools/mutate $(VARIANT) '$(or $(ONLY),*)'
bench: all ## the figures of the README, side by side with what one would use instead
	@tools/deps build run bench
	@BANKFULL=$B/bankfull tests/bench/run
	@COLLECTOR=$B/bankfull-collector tests/bench/viewers
	@COLLECTOR=$B/bankfull-collector tests/bench/dashboard
demo: ## start a real engine under memory pressure and explain its memory
	@tools/deps build run
	@$(SUBMAKE) all
	@tools/demo
.PHONY: screenshots
screenshots: all ## the pictures of README.md, by Chromium on a replayed fleet: docs/images
	@tools/deps build run check
	@tools/screenshots $B docs/images

# --- lint -----------------------------------------------------------------------------------
LINTS := format-check layers headers purity banned sizes cppcheck shellcheck webcheck spell docs-check tidy
C_FILES = $(wildcard src/*/*.[ch] include/*/*.h tests/*/*.[ch])
.PHONY: lint format $(LINTS)
lint: ## every check of the source that is no test
	@tools/deps build lint
	@$(SUBMAKE) -k lint-all
lint-all: $(LINTS)
	@echo 'lint: $(LINTS): all well'
format: ## lay out all C files
	clang-format -i $(C_FILES)
format-check:
	@tools/format-check $(C_FILES)
layers sizes banned shellcheck webcheck spell:
	@tools/$@
docs-check: all
	@tools/docs-check $(PROGRAMS:%=$B/%)
headers:
	@tools/headers $(CC) $(CPPFLAGS) $(OUR_C) -Itests $(WARN_SRC)
purity:
	@$(MAKE) --no-print-directory VARIANT=pure $(PURE:%=build/pure/lib%.a)
	@tools/purity $(PURE:%=build/pure/lib%.a)
cppcheck:
	@cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=internalAstError -Iinclude -Isrc -j $(JOBS) src
# Its stamp depends on the object, so a file is looked at again when it or one of its headers changed.
tidy: $(patsubst %.c,$B/tidy/%.ok,$(wildcard src/*/*.c)) ## clang-tidy over src/
$B/tidy/%.ok: $B/obj/%.o .clang-tidy tools/tidy
	@mkdir -p $(@D)
	@tools/tidy $(CPPFLAGS) $(OUR_C) $*.c && touch $@

# --- image ----------------------------------------------------------------------------------
IMAGE ?= bankfull
IMAGE_TAG = $(subst +,-,$(VERSION))
.PHONY: image images.tar
.PHONY: check-image
image: ## the container image, by podman, buildah or docker; IMAGE=NAME ARCH=arm64 DEBIAN=BASE IMAGE_TOOL=... IMAGE_OPTIONS=...
	@tools/image build $(IMAGE) $(IMAGE_TAG)
images.tar: image ## the image as a file, for sites that no registry reaches
	@tools/image save $(IMAGE):$(IMAGE_TAG) build/images.tar
check-image: ## the image built without a registry, and what is in it; SUITE=bookworm ARCH=arm64; root; no part of check
	@tools/deps arm64
	@tests/e2e/image/prove $(or $(SUITE),trixie) $(ARCH)

# --- install, release -----------------------------------------------------------------------
.PHONY: install uninstall dist distcheck clean help
install: all ## into DESTDIR and PREFIX (/usr/local)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(DOCDIR)/rules
	install -m 755 $(PROGRAMS:%=$B/%) $(DESTDIR)$(BINDIR)
	install -m 644 LICENSE NOTICE NEWS.md $(wildcard README.md) $(DESTDIR)$(DOCDIR)
	$(if $(wildcard docs/*.md),install -m 644 $(wildcard docs/*.md docs/*.json) $(DESTDIR)$(DOCDIR))
	$(if $(wildcard docs/images/*),install -d $(DESTDIR)$(DOCDIR)/docs/images && install -m 644 $(wildcard docs/images/*) $(DESTDIR)$(DOCDIR)/docs/images)
	install -d $(DESTDIR)$(DOCDIR)/contrib/prometheus $(DESTDIR)$(DOCDIR)/contrib/grafana
	install -m 644 $(wildcard contrib/prometheus/*.yml) $(DESTDIR)$(DOCDIR)/contrib/prometheus
	install -m 644 $(wildcard contrib/grafana/*.json) $(DESTDIR)$(DOCDIR)/contrib/grafana
	$(if $(wildcard docs/rules/*.md),install -m 644 $(wildcard docs/rules/*.md) $(DESTDIR)$(DOCDIR)/rules)
uninstall: ## remove what install put there
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%)
	rm -rf $(DESTDIR)$(DOCDIR)
dist: ## a source tarball of HEAD in build/
	@mkdir -p build/dist && echo $(VERSION) > build/dist/VERSION
	git archive --prefix=bankfull-$(VERSION)/ --add-file=build/dist/VERSION HEAD | gzip -n > build/bankfull-$(VERSION).tar.gz
distcheck: dist ## build, test, install and uninstall from that tarball
	@tools/distcheck build/bankfull-$(VERSION).tar.gz
clean: ## remove everything built
	rm -rf build $(PROGRAMS)
help: ## print this
	@sed -n -e 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' -e 's/^[$$](KINDS.*## \(.*\)/  check-KIND\t\1/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20
