# Makefile - builds, tests and installs jsprof. `make help` lists what it can do.
#
# SPDX-License-Identifier: MIT
#
# Sources are found by folder, so a new file needs no edit here. Set B to build
# elsewhere, CC to build with another compiler; CFLAGS and LDFLAGS are appended.

B ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 20
ifeq ($(origin CC),default)
CC = gcc
endif
ifeq ($(origin AR),default)
AR := $(shell $(CC) -print-prog-name=ar)
endif
ifeq ($(strip $(B)),)
$(error B is empty: it names the folder to build in)
endif
ifeq ($(V),)
Q = @
endif

VERSION := $(shell sed -n 's/.*JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
SONAME := libjsprof.so.$(SOVERSION)
READ_SONAME := libjsprof-read.so.$(SOVERSION)

# -- Flags ---------------------------------------------------------------------

# A compiler that we do not know may warn of more. So warnings are errors in .ci/run alone,
# which sets WERROR=-Werror in the environment, also for the tests that compile something.
WERROR ?=
WARN = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes \
  -Wvla $(WERROR) $(if $(findstring clang,$(CC)),-Watomic-implicit-seq-cst)
BASE_CFLAGS = -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -pthread -fvisibility=hidden \
  -ftls-model=initial-exec $(WARN) -Iinclude
INTERNAL = -Isrc
# A sanitizer's own code makes compilers warn of what is not there: the plain builds warn.
ALL_CFLAGS = $(BASE_CFLAGS) $(INTERNAL) $(ROOM) $(if $(SAN),$(SAN) -w) $(CPPFLAGS) $(CFLAGS) \
  $(UNFORTIFIED)
ALL_LDFLAGS = -pthread -Wl,--as-needed $(SAN) $(LDFLAGS)
SO_LDFLAGS = -shared -Wl,-soname,$(SONAME) -Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs \
  -Wl,--version-script=src/jsprof.map

# What the rooms check relies on: no frame too large for a signal stack, and
# every pointer call visible as one in the disassembly, no memcmp turned into bcmp.
# A sanitizer's padding breaks the frame limit, so its builds go without.
ROOM_FRAME = $(if $(SAN),,-Wframe-larger-than=2048 -Werror=frame-larger-than$(if \
  $(findstring clang,$(CC)),,=2048) -fstack-usage)
# aarch64 compilers call helpers in libgcc for atomics, unless told to write them out.
MACHINE := $(shell $(CC) -dumpmachine)
ROOM_ATOMICS = $(if $(findstring aarch64,$(MACHINE)),-mno-outline-atomics)
ROOM_FLAGS = -DJSP_IN_ROOM -fno-jump-tables \
  -fno-optimize-sibling-calls -fno-builtin-bcmp $(ROOM_FRAME) $(ROOM_ATOMICS) $(EAGER)
$(B)/obj/src/sigsafe/%.o: ROOM = $(ROOM_FLAGS)
# What a handler calls in libc is bound when the program starts: a host that links the
# static library without -z now would else look it up by the first call, in the handler.
# Not with clang nor on aarch64: there the rooms check could not tell such a call from
# one through a pointer, and src/session/warm.c makes the first calls alone.
EAGER := $(if $(findstring clang,$(CC)),,$(if $(findstring x86_64,$(MACHINE)),-fno-plt))
$(B)/obj/src/public/thread.o $(B)/obj/src/session/session.o: ROOM = $(EAGER)
# An example sees what a user sees: the public header.
$(B)/obj/examples/%.o: INTERNAL =
$(B)/obj/tests/%.o: INTERNAL = -Isrc -Itests -Itests/unit

# A fortified call has a name of its own. The handler may not reach these names, and the library
# looks up where each name that it calls leads. The command keeps what CPPFLAGS says.
$(B)/obj/src/%.o: UNFORTIFIED = -U_FORTIFY_SOURCE
$(B)/obj/src/sigsafe/%.o: UNFORTIFIED = -U_FORTIFY_SOURCE -fno-lto
$(B)/obj/src/cli/%.o $(B)/obj/src/serve/%.o: UNFORTIFIED =

# With LTO the library's one object is machine code, which any linker takes.
LTO := $(findstring -flto,$(CFLAGS))
ifneq ($(and $(LTO),$(findstring clang,$(CC))),)
$(error CFLAGS has $(LTO), which the library takes from gcc alone: clang's linker plugin writes no \
  relocatable object. Build it without, or take the amalgamation along: make amalgamation)
endif
RELOCATABLE = $(if $(LTO),$(CC) $(CFLAGS) -nostdlib -flinker-output=nolto-rel,$(LD_TOOL)) -r

prog_name = $(shell $(CC) -print-prog-name=$(1))
LD_TOOL := $(call prog_name,ld)
OBJCOPY_TOOL := $(call prog_name,objcopy)

# -- What there is -------------------------------------------------------------

objects = $(patsubst %,$(B)/obj/%.o,$(basename $(1)))

# What the library does not need: the command and the tests do.
READER_SRC := $(wildcard src/capture/read*.c) src/base/store.c
LIB_SRC := $(filter-out $(READER_SRC),$(foreach room,sigsafe base image capture calls tasks \
  session session/alone control public,$(wildcard src/$(room)/*.c)))
CLI_SRC := $(wildcard src/cli/*.c src/serve/*.c)
READ_SRC := $(wildcard src/read/*.c)
INNER_SRC := $(LIB_SRC) $(READER_SRC) $(foreach room,analyze export page read,\
  $(wildcard src/$(room)/*.c)) src/serve/http.c

# The four kinds of tests, by folder; docs/testing.md says what each promises.
programs_in = $(patsubst %.c,$(B)/%,$(wildcard $(1:%=tests/%/*_test.c)))
scripts_in = $(filter-out $(wildcard tests/*/lib*.sh tests/*/common.sh),\
  $(wildcard $(1:%=tests/%/*.sh)))
CHECK_ROOMS = unit sim cli export read check
LIVE_ROOMS = signal fault gdb lua lark mozjs browser serve real symbols unwind
WORLD_ROOMS = world pkg
# Of these, the folders that are run, as in `make check-live ROOMS='lua serve'`.
ROOMS = $(CHECK_ROOMS) $(LIVE_ROOMS) $(WORLD_ROOMS)
check_rooms := $(filter $(ROOMS),$(CHECK_ROOMS))
live_rooms := $(filter $(ROOMS),$(LIVE_ROOMS))
LIVE_TESTS := $(call programs_in,signal)
C_TESTS := $(call programs_in,unit sim) $(LIVE_TESTS)
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/*_fuzz.c))
BENCHES := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
FAULTY := $(patsubst %.c,$(B)/%,$(wildcard tests/fault/*.c))
MAN := $(wildcard docs/man/*.[1-9])
COMPLETIONS := $(wildcard completion/*.bash completion/*.fish completion/_*)

LIBS := $(if $(LIB_SRC),$(foreach l,libjsprof libjsprof-read,$(B)/lib/$(l).a $(B)/lib/$(l).so))
TOOL := $(if $(CLI_SRC),$(B)/bin/jsprof)
EXAMPLES := $(patsubst examples/%.c,$(B)/bin/%,$(wildcard examples/*.c))
HOSTS := $(filter-out lua-host,$(sort $(patsubst examples/%/,%,$(dir \
  $(wildcard examples/*/*.c)))))

# -- Targets -------------------------------------------------------------------

.PHONY: all installable lib room tool examples demo picture check check-live check-world \
  live-programs asan tsan mutants sizes bench fuzz amalgamation dist deps install install-lib \
  uninstall clean help test-programs fuzz-programs test-objects FORCE
.DELETE_ON_ERROR:
.SUFFIXES:

all: lib tool examples ## everything that can be built here

installable: lib tool ## what install installs, without examples

lib: $(LIBS)

room: $(call objects,$(wildcard src/sigsafe/*.c))

tool: $(TOOL)

examples: $(EXAMPLES) $(HOSTS:%=$(B)/bin/%)

# A Lark program that turns docs/capture.md into a web page, over and over.
demo: $(TOOL) $(B)/bin/lark ## profile the example host and print the report
	rm -f $(B)/demo.cap
	$(B)/bin/lark --profile-output=$(B)/demo.cap \
	  examples/lark/programs/markdown.lark docs/capture.md 1000
	$(B)/bin/jsprof report --limit 12 $(B)/demo.cap
	$(B)/bin/jsprof tree --min 3 $(B)/demo.cap

picture: demo ## make docs/html.png anew: the page of the demo (needs Chromium and node)
	sh tests/bench/picture.sh $(B)

# tests/fault/*.c are the hosts that tests/fault/*.sh ill-treat.
test-programs: $(C_TESTS) $(FAULTY)
live-programs: $(LIVE_TESTS) $(FAULTY)

fuzz-programs: $(FUZZERS)

# With CFLAGS=-fsyntax-only a compiler says what it thinks of all of them in a few seconds.
test-objects: $(foreach t,$(C_TESTS) $(FAULTY) $(FUZZERS),$(t:$(B)/%=$(B)/obj/%.o))

# The closing line is the last one on stdout; STRICT=1 makes a skip a failure (see tests/run.sh).
run_tests = B='$(B)' CC='$(CC)' STRICT='$(STRICT)' sh tests/run.sh

check: all $(call programs_in,$(check_rooms)) fuzz-programs ## all that logic alone decides: minutes
	@$(run_tests) $(call programs_in,$(check_rooms)) $(FUZZERS) $(call scripts_in,$(check_rooms))

# Most of them wait, for a browser or for samples: two for each processor at a time.
check-live: all live-programs ## real signals, threads, hosts, browsers, servers (ROOMS='lua serve')
	@JOBS="$${JOBS:-$$((2 * $$(nproc)))}" $(run_tests) \
	  $(if $(filter signal,$(live_rooms)),$(LIVE_TESTS)) $(call scripts_in,$(live_rooms))

check-world: ## other compilers, machines, engines; lists rows with their time (ROWS='clang musl')
	@B='$(B)' CC='$(CC)' STRICT='$(STRICT)' sh tests/world/rows $(ROWS)

SAN_OPTIONS = ASAN_OPTIONS=detect_stack_use_after_return=0:allocator_may_return_null=1 \
  UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=second_deadlock_stack=1:allocator_may_return_null=1
asan tsan:
	+$(Q)$(MAKE) B=$(B)-$@ SAN='$(SAN_$@) -fno-omit-frame-pointer' MOZJS=no LUA=no run-san

asan: ## C tests (or TESTS) and the command's outputs under the address and undefined sanitizers
tsan: ## the same under the thread sanitizer
SAN_asan = -fsanitize=address,undefined -fno-sanitize-recover=undefined
SAN_tsan = -fsanitize=thread

.PHONY: run-san
SAN_TESTS = $(if $(TESTS),$(TESTS:%=$(B)/%),$(C_TESTS) $(FUZZERS))
run-san: $(SAN_TESTS) $(if $(TESTS),,tool test-programs)
	@$(SAN_OPTIONS) B='$(B)' CC='$(CC)' STRICT='$(STRICT)' sh tests/run.sh \
	  $(SAN_TESTS) $(if $(TESTS),,tests/cli/outputs.sh tests/cli/large.sh)

# Not tests/world/mutants.sh, which proves that the static checks can fail.
mutants: ## break N places of src/ one at a time, and see which test notices (SEED, JOBS, IN, KINDS)
	@N='$(N)' SEED='$(SEED)' JOBS='$(JOBS)' IN='$(IN)' KINDS='$(KINDS)' OUT='$(B)-mutants' \
	  python3 -B tests/strength/run.py

# NAMES=src/page lists the room's static functions with one use as well.
sizes: ## print each room's lines and functions, and how many of these have one use (NAMES)
	@NAMES='$(NAMES)' python3 -B tests/strength/sizes.py

bench: all $(BENCHES) ## measure, each figure beside its peer's
	@if [ -x tests/bench/run ]; then B='$(B)' CC='$(CC)' tests/bench/run; \
	else echo 'bench: tests/bench/run is not there yet' >&2; exit 1; fi

# Fuzzing starts from the corpus in the tree and writes only below $(B)-fuzz.
fuzz: ## fuzz the readers of foreign bytes for FUZZ_SECONDS each (needs clang)
	+$(Q)$(MAKE) B=$(B)-fuzz CC=clang MOZJS=no LUA=no FUZZ_LINK=-fsanitize=fuzzer \
	  SAN='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' \
	  run-fuzz

.PHONY: run-fuzz
run-fuzz: fuzz-programs
	@for f in $(FUZZERS); do n=$${f##*/}; n=$${n%_fuzz}; \
	  mkdir -p $(B)/corpus/$$n tests/fuzz/corpus/$$n; \
	  $$f -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$(B)/ \
	    $(B)/corpus/$$n tests/fuzz/corpus/$$n || exit 1; done

# Of all distributions that we know; deps asks which of these names there are.
DEPS = gcc g++ make binutils libc6-dev pkg-config debootstrap fakeroot clang libclang-rt-dev \
  libsysprof-4-dev libsysprof-6-dev sysprof xvfb xauth valgrind linux-perf elfutils xz-utils \
  musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user \
  libgoogle-perftools-dev libunwind-dev gdb gdb-multiarch lldb \
  $(DEPS_GJS) $(DEPS_LUA) $(DEPS_CALLS) $(DEPS_EXPORT) $(DEPS_BROWSER) $(DEPS_PACKAGES)
DEPS_GJS = $(MOZJS_KNOWN:%=libmozjs-%-dev) libgjs-dev gjs gjs-tests gir1.2-gtk-4.0 dbus gnome-shell
DEPS_LUA = lua5.1 liblua5.1-0-dev lua5.2 liblua5.2-dev lua5.3 liblua5.3-dev \
  lua5.4 liblua5.4-dev lua5.5 liblua5.5-dev luajit libluajit-5.1-dev luarocks lua-cqueues lua-lpeg \
  $(DEPS_LUA_HOSTS)
# Programs that have a Lua. tshark and what it needs take 127 MB; mpv's packages are 58 MB to
# download, the last three 14 MB.
DEPS_LUA_HOSTS = lua-luv lua-lgi neovim haproxy prosody nginx-light libpcre3 curl tshark mpv \
  awesome texlive-binaries redis-tools
# nginx's module for Lua: unpacked into $(B)/nginx, because in Debian 12 it conflicts with the
# LuaJIT above, and needs libpcre3. Later Debians have one LuaJIT.
DEPS_NGINX = libnginx-mod-http-ndk libnginx-mod-http-lua lua-resty-core lua-resty-lrucache \
  libluajit2-5.1-2
DEPS_CALLS = graphviz kcachegrind dbus-x11 imagemagick
DEPS_EXPORT = zsh fish mandoc systemd golang-go python3-jsonschema protobuf-compiler
DEPS_BROWSER = chromium firefox-esr
DEPS_PACKAGES = cmake meson ninja-build python3-dev pkgconf dpkg-dev debhelper \
  lintian $(DEPS_HOSTS)
# Interpreters that examples/hosts embeds.
DEPS_HOSTS = libmruby-dev libperl-dev tcl8.6-dev ruby-dev
.PHONY: deps-engines check-engines
deps-engines: ## build a collector and Parca from their Go modules (with any Go, and a network)
	@tests/engines/deps '$(B)/engines'

check-engines: all ## let the engines that deps-engines has built take our profiles
	@B='$(B)' CC='$(CC)' STRICT='$(STRICT)' JOBS=1 sh tests/run.sh \
	  $(filter-out $(wildcard tests/engines/lib*.sh),$(wildcard tests/engines/*.sh))

deps: ## install every package that a test can use, with apt-get and npm
	@sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; set -e; \
	$$sudo apt-get update; \
	there=$$(LC_ALL=C apt-cache policy $(DEPS) | awk '/^[^ ]/ { name = $$1; sub(":$$", "", name) } \
	  $$1 == "Candidate:" && $$2 != "(none)" { print name }'); \
	for p in $(DEPS); do case " $$(echo $$there) " in *" $$p "*) ;; \
	  *) echo "deps: not in this distribution: $$p" ;; esac; done; \
	set -x; \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y \
	  --no-install-recommends $$there; \
	mkdir -p $(B)/nginx; (cd $(B)/nginx && for p in $(DEPS_NGINX); do apt-get download $$p || \
	  echo "deps: not in this distribution: $$p"; done; \
	  for p in *.deb; do [ ! -f "$$p" ] || dpkg -x "$$p" .; done); \
	command -v npm >/dev/null || $$sudo env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y --no-install-recommends nodejs npm; \
	cd tests/node && npm ci --ignore-scripts --no-audit --no-fund

# -- One file, and the sources as one archive ----------------------------------------------

AMALGAMATION = $(B)/amalgamation/jsprof.c $(B)/amalgamation/jsprof.h
amalgamation: $(AMALGAMATION) ## the library as one jsprof.c and jsprof.h, to take along

# The signal-safe room comes first: its flags end where it ends.
$(B)/amalgamation/jsprof.c: $(LIB_SRC) $(wildcard src/*/*.h src/*/*/*.h packaging/*) \
  include/jsprof.h
	@mkdir -p "$(@D)"
	$(Q)sh packaging/amalgamate.sh $(sort $(filter src/sigsafe/%,$(LIB_SRC))) \
	  $(sort $(filter-out src/sigsafe/%,$(LIB_SRC))) >"$@"
$(B)/amalgamation/jsprof.h: include/jsprof.h
	@mkdir -p "$(@D)"
	$(Q)cp include/jsprof.h "$@"

dist: $(AMALGAMATION) ## jsprof-VERSION.tar.gz, the same bytes in any folder
	sh packaging/dist.sh jsprof-$(VERSION) "$(B)"

clean: ## remove what was built
	rm -rf $(B) $(B)-asan $(B)-tsan $(B)-fuzz $(B)-mutants

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' Makefile

# -- Rules ---------------------------------------------------------------------

# Objects depend on the command line too: another CC or CFLAGS rebuilds them.
# Their dependencies are noted by both names that B may give them, from / and from here.
DEPENDENCIES = -MMD -MP -MT '$(sort $@ $(abspath $@) $(patsubst $(CURDIR)/%,%,$(abspath $@)))'
FLAGS_NOW := $(CC) $(ALL_CFLAGS) $(ROOM_FLAGS) $(CXX) $(CXXFLAGS) $(ALL_LDFLAGS) \
  $(FUZZ_LINK)
$(B)/obj/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' >$@

$(B)/obj/%.o: %.c $(B)/obj/flags
	@mkdir -p $(@D)
	@echo '  CC    $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPENDENCIES) -c -o $@ $<

# One object, so that the names between our files are no names to the host.
$(B)/lib/libjsprof.a: $(call objects,$(LIB_SRC))
	@mkdir -p $(@D)
	@echo '  AR    $@'
	$(Q)$(RELOCATABLE) -o $(B)/obj/libjsprof.o $^
	$(Q)$(OBJCOPY_TOOL) --localize-hidden $(B)/obj/libjsprof.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/obj/libjsprof.o

$(B)/lib/libjsprof.so.$(VERSION): $(call objects,$(LIB_SRC)) src/jsprof.map
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CC) $(SO_LDFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^)

$(B)/lib/libjsprof.so: $(B)/lib/libjsprof.so.$(VERSION)
	$(Q)ln -sf $(<F) $(@D)/$(SONAME) && ln -sf $(SONAME) $@

# The reading library: the functions of src/read, and of the other rooms what these need.
$(B)/lib/libjsprof-read.a: $(call objects,$(READ_SRC)) $(B)/obj/inner.a
	@mkdir -p $(@D)
	@echo '  AR    $@'
	$(Q)$(RELOCATABLE) -o $(B)/obj/libjsprof-read.o $^
	$(Q)$(OBJCOPY_TOOL) --localize-hidden $(B)/obj/libjsprof-read.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/obj/libjsprof-read.o

$(B)/lib/libjsprof-read.so.$(VERSION): $(call objects,$(READ_SRC)) $(B)/obj/inner.a \
  src/read/jsprof-read.map
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CC) -shared -Wl,-soname,$(READ_SONAME) -Wl,-z,now -Wl,-z,defs \
	  -Wl,--version-script=src/read/jsprof-read.map -o $@ $(filter %.o %.a,$^) $(ALL_LDFLAGS) -lm -ldl

$(B)/lib/libjsprof-read.so: $(B)/lib/libjsprof-read.so.$(VERSION)
	$(Q)ln -sf $(<F) $(@D)/$(READ_SONAME) && ln -sf $(READ_SONAME) $@

# The page of `jsprof html`, as bytes.
PAGE_DIR = src/page/browser
$(B)/page_frame.c: $(PAGE_DIR)/embed.sh $(wildcard $(PAGE_DIR)/*)
	@mkdir -p $(@D)
	@echo '  PAGE  $@'
	$(Q)sh $< $(PAGE_DIR)/page.html >$@
$(B)/obj/page_frame.o: $(B)/page_frame.c $(B)/obj/flags
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPENDENCIES) -c -o $@ $<

# For the tool and the tests: every object but the command's own, to choose from.
$(B)/obj/inner.a: $(call objects,$(INNER_SRC)) $(B)/obj/page_frame.o
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

define link
@mkdir -p $(@D)
@echo '  LD    $@'
$(Q)$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(ALL_LDFLAGS) $(1)
endef

# The statistics of a report want libm; the library never does.
$(B)/bin/jsprof: $(call objects,$(CLI_SRC)) $(B)/obj/inner.a
	$(call link,-lm)

$(EXAMPLES): $(B)/bin/%: $(B)/obj/examples/%.o $(B)/lib/libjsprof.a
	$(call link)

# A folder of examples/ is one program.
define host
$(B)/bin/$(1): $(call objects,$(wildcard examples/$(1)/*.c)) $(B)/lib/libjsprof.a
	$$(call link,-lm)
endef
$(foreach h,$(HOSTS),$(eval $(call host,$(h))))

# The simulator takes the place of src/session/kernel.c and of the walk of sleepers.
$(filter $(B)/tests/sim/%,$(C_TESTS)): $(call objects,$(wildcard tests/sim/sim*.c))

$(C_TESTS) $(FAULTY) $(BENCHES): $(B)/%: $(B)/obj/%.o $(B)/obj/inner.a
	$(call link,-lm)

# A fuzz target replays its corpus in check, and takes libFuzzer's main in fuzz.
$(FUZZERS): $(B)/%: $(B)/obj/%.o $(if $(FUZZ_LINK),,$(B)/obj/tests/fuzz/replay.o) \
  $(B)/obj/inner.a
	$(call link,$(FUZZ_LINK) -lm)

# What a binding builds besides, and what debuggers load.
-include bindings/*/build.mk debugger/install.mk

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

# -- Installing ----------------------------------------------------------------

# DESTDIR may contain spaces; PREFIX and LIBDIR may not, because pkg-config's files hold them.
ROOT = $(DESTDIR)$(PREFIX)
LIBROOT = $(DESTDIR)$(LIBDIR)
DOCDIR = $(ROOT)/share/doc/jsprof
# Units of a user, which systemd finds there if PREFIX is /usr or /usr/local.
UNITROOT = $(ROOT)/lib/systemd/user
UNITS = $(wildcard packaging/systemd/jsprof-*)
INSTALLED_DOCS = $(wildcard LICENSE README* CHANGELOG*)
# The name of our gjs-console where it is installed: gjs has a program of that name.
GJS_CONSOLE ?= jsprof-gjs-console
# Where a manual page or a completion goes, below ROOT.
place = $(strip $(if $(filter %.bash,$(1)),\
  share/bash-completion/completions/$(basename $(notdir $(1))),\
  $(if $(filter %.fish,$(1)),share/fish/vendor_completions.d/$(notdir $(1)),\
  $(if $(filter completion/%,$(1)),share/zsh/site-functions/$(notdir $(1)),\
  share/man/man$(patsubst .%,%,$(suffix $(1)))/$(patsubst gjs-console.%,$(GJS_CONSOLE).%,$(notdir \
  $(1)))))))
fill_in = sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|'

$(B)/%.pc: %.pc.in include/jsprof.h FORCE
	@mkdir -p $(@D)
	$(Q)$(fill_in) $< >$@

# Write the file NAME of pkg-config for a LIBRARY of bindings/ that needs a PACKAGE.
binding_pc = $(fill_in) packaging/binding.pc.in | sed 's|@NAME@|$(1)|; s|@LIBRARY@|$(2)|; \
  s|@PACKAGE@|$(3)|' >"$(LIBROOT)/pkgconfig/$(1).pc"

# The libraries of this folder, by the names of their headers.
LIB_NAMES = jsprof jsprof-read
install-lib: lib $(LIB_NAMES:%=$(B)/%.pc) ## the libraries alone, also for pkg-config and CMake
	install -d "$(ROOT)/include" "$(LIBROOT)/pkgconfig" "$(LIBROOT)/cmake/jsprof"
	@set -ex; for l in $(LIB_NAMES); do \
	  install -m 644 include/$$l.h "$(ROOT)/include"; \
	  install -m 644 $(B)/lib/lib$$l.a "$(LIBROOT)"; \
	  install -m 755 $(B)/lib/lib$$l.so.$(VERSION) "$(LIBROOT)"; \
	  ln -sf lib$$l.so.$(VERSION) "$(LIBROOT)/lib$$l.so.$(SOVERSION)"; \
	  ln -sf lib$$l.so.$(SOVERSION) "$(LIBROOT)/lib$$l.so"; \
	  install -m 644 $(B)/$$l.pc "$(LIBROOT)/pkgconfig"; done
	$(fill_in) packaging/jsprof-config.cmake >"$(LIBROOT)/cmake/jsprof/jsprof-config.cmake"
	$(fill_in) packaging/jsprof-config-version.cmake \
	  >"$(LIBROOT)/cmake/jsprof/jsprof-config-version.cmake"

install: install-lib tool ## install below PREFIX, staged in DESTDIR
	install -d "$(ROOT)/bin" "$(DOCDIR)"
	install -m 755 $(TOOL) "$(ROOT)/bin"
	install -m 644 $(INSTALLED_DOCS) "$(DOCDIR)"
	@set -ex; $(foreach f,$(MAN) $(COMPLETIONS),\
	  install -D -m 644 $(f) "$(ROOT)/$(call place,$(f))";)
	install -d "$(UNITROOT)"
	@set -ex; $(foreach f,$(UNITS),sed 's|/usr/bin/|$(PREFIX)/bin/|' $(f) \
	  >"$(UNITROOT)/$(notdir $(f))";)
	+$(if $(LUA_VERSIONS),$(Q)$(MAKE) --no-print-directory install-lua)

# It removes the files that install makes by their names, and then empty folders of ours.
uninstall: ## remove what install put there
	rm -f "$(ROOT)/bin/jsprof"
	@set -ex; for l in $(LIB_NAMES); do rm -f "$(ROOT)/include/$$l.h" \
	    "$(LIBROOT)/pkgconfig/$$l.pc" "$(LIBROOT)/lib$$l.a" "$(LIBROOT)/lib$$l.so.$(VERSION)"; \
	  for f in "$(LIBROOT)/lib$$l.so.$(SOVERSION)" "$(LIBROOT)/lib$$l.so"; do \
	    [ -e "$$f" ] || rm -f "$$f"; done; done
	rm -f "$(LIBROOT)/cmake/jsprof/jsprof-config.cmake"
	rm -f "$(LIBROOT)/cmake/jsprof/jsprof-config-version.cmake"
	@set -ex; $(foreach f,$(INSTALLED_DOCS),rm -f "$(DOCDIR)/$(notdir $(f))";)
	-@rmdir "$(LIBROOT)/cmake/jsprof" "$(DOCDIR)" 2>/dev/null || true
	@set -ex; $(foreach f,$(MAN) $(COMPLETIONS),rm -f "$(ROOT)/$(call place,$(f))";)
	@set -ex; $(foreach f,$(UNITS),rm -f "$(UNITROOT)/$(notdir $(f))";)
	+$(if $(LUA_VERSIONS),$(Q)$(MAKE) --no-print-directory uninstall-lua)
