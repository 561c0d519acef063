# build.mk - the SpiderMonkey binding, once for each SpiderMonkey that is installed:
# lib/libjsprof-mozjs-VERSION.a for programs that embed it. Of the one that GJS uses besides
# gjs-console, jsprof-gjs and the library that this one loads into GJS programs.
#
# SPDX-License-Identifier: MIT

CXX_SRC := $(wildcard bindings/mozjs/*.cpp)
RELAY_SRC := $(wildcard bindings/mozjs/*.c)
MOZJS_PARTS = jsprof-mozjs asleep describe walk compiled lines peek remember wasm entry forgotten collect hide marks allocations evaluated

# MOZJS=no leaves it all out.
MOZJS_KNOWN = 102 115 128 140
ifeq ($(SAN)$(filter no,$(MOZJS)),)
MOZJS_CXX := $(shell command -v $(CXX))
MOZJS_THERE := $(foreach v,$(MOZJS_KNOWN),$(if $(shell pkg-config --exists mozjs-$(v) \
  2>/dev/null && echo yes),$(v)))
MOZJS_VERSIONS := $(if $(MOZJS_CXX),$(strip $(MOZJS_THERE)))
# A distribution has one GJS, for one SpiderMonkey.
GJS_MOZJS := $(filter $(MOZJS_VERSIONS),$(patsubst mozjs-%,%,$(filter mozjs-%,$(shell \
  pkg-config --print-requires-private --print-requires gjs-1.0 2>/dev/null))))
GJS_VERSION := $(shell pkg-config --modversion gjs-1.0 2>/dev/null | \
  awk -F. '{ print 1000 * $$1 + $$2 }')
endif
# Which one libjsprof-mozjs.a without a number is for.
MOZJS_DEFAULT := $(or $(GJS_MOZJS),$(lastword $(MOZJS_VERSIONS)))
MOZJS_LIBS := $(MOZJS_VERSIONS:%=$(B)/lib/libjsprof-mozjs-%.a) \
  $(if $(MOZJS_DEFAULT),$(B)/lib/libjsprof-mozjs.a)
GJS := $(if $(GJS_MOZJS),$(B)/bin/gjs-console)

# -- What make says of it: what is built, and what is not for want of what -----------------

MOZJS_WHY = $(if $(filter no,$(MOZJS)),MOZJS=no,$(if $(MOZJS_CXX),$(if $(MOZJS_VERSIONS),,no \
  libmozjs-VERSION-dev of $(MOZJS_KNOWN)),no C++ compiler ($(CXX))))
GJS_WHY = $(if $(MOZJS_VERSIONS),$(if $(GJS),,no libgjs-dev for it))

.PHONY: mozjs-says
mozjs-says:
	@echo '  SpiderMonkey: $(if $(MOZJS_WHY),not built: $(MOZJS_WHY),$(MOZJS_VERSIONS))$(if \
	  $(MOZJS_VERSIONS),; GJS: $(if $(GJS_WHY),not built: $(GJS_WHY),of $(GJS_MOZJS)))'
ifeq ($(SAN),)
all: mozjs-says $(GJS) $(MOZJS_LIBS)
endif

# -- Objects: one folder for each version ---------------------------------------------------

mozjs_objects = $(patsubst %,$(B)/obj/bindings/mozjs/$(1)/%.o,$(2))

# $(1): packages. Their headers are not ours to warn of. Roots of SpiderMonkey are local
# variables that put themselves on a list, and take themselves off again: gcc sees the first.
CXX_CFLAGS = -std=c++17 -O2 -g -fPIC -pthread -fvisibility=hidden -fno-rtti \
  -Wall -Wextra -Wshadow -Wconversion \
  $(if $(findstring clang,$(CXX)),,-Wno-dangling-pointer) $(WERROR) -Iinclude \
  $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(1))) $(CPPFLAGS) $(CXXFLAGS)

define mozjs_rules
mozjs_flags_$(1) := $$(call CXX_CFLAGS,mozjs-$(1) $(if $(filter $(1),$(GJS_MOZJS)),gjs-1.0)) \
  $(if $(filter $(1),$(GJS_MOZJS)),-DGJS_VERSION=$(GJS_VERSION))
$(B)/obj/bindings/mozjs/$(1)/%.o: bindings/mozjs/%.cpp $(B)/obj/flags
	@mkdir -p $$(@D)
	@echo '  CXX   $$< ($(1))'
	$$(Q)$$(CXX) $$(mozjs_flags_$(1)) $$(DEPENDENCIES) -c -o $$@ $$<

$(B)/obj/examples/mozjs/$(1)/%.o: examples/mozjs/%.cpp $(B)/obj/flags
	@mkdir -p $$(@D)
	@echo '  CXX   $$< ($(1))'
	$$(Q)$$(CXX) $$(mozjs_flags_$(1)) -Ibindings/mozjs $$(DEPENDENCIES) -c -o $$@ $$<

$(B)/lib/libjsprof-mozjs-$(1).a: $(call mozjs_objects,$(1),$(MOZJS_PARTS))
	@mkdir -p $$(@D)
	@echo '  AR    $$@'
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$^

# The example that embeds SpiderMonkey without GJS.
all: $(B)/bin/mozjs-embedded-$(1)
$(B)/bin/mozjs-embedded-$(1): $(B)/obj/examples/mozjs/$(1)/embedded.o \
  $(B)/lib/libjsprof-mozjs-$(1).a $(B)/lib/libjsprof.a
	@mkdir -p $$(@D)
	@echo '  LD    $$@'
	$$(Q)$$(CXX) -o $$@ $$^ $$(ALL_LDFLAGS) $$$$(pkg-config --libs mozjs-$(1))
endef
$(foreach v,$(MOZJS_VERSIONS),$(eval $(call mozjs_rules,$(v))))

ifneq ($(MOZJS_DEFAULT),)
all: $(B)/bin/mozjs-embedded
$(B)/lib/libjsprof-mozjs.a: $(B)/lib/libjsprof-mozjs-$(MOZJS_DEFAULT).a
	$(Q)ln -sf $(<F) $@
$(B)/bin/mozjs-embedded: $(B)/bin/mozjs-embedded-$(MOZJS_DEFAULT)
	$(Q)ln -sf $(<F) $@

installable: $(MOZJS_LIBS)
install: install-mozjs
uninstall: uninstall-mozjs
.PHONY: install-mozjs uninstall-mozjs

# The library without a number, and its file of pkg-config, are for MOZJS_DEFAULT.
install-mozjs: $(MOZJS_LIBS)
	install -d "$(ROOT)/include" "$(LIBROOT)/pkgconfig"
	install -m 644 bindings/mozjs/jsprof-mozjs.h "$(ROOT)/include"
	install -m 644 $(MOZJS_VERSIONS:%=$(B)/lib/libjsprof-mozjs-%.a) "$(LIBROOT)"
	ln -sf libjsprof-mozjs-$(MOZJS_DEFAULT).a "$(LIBROOT)/libjsprof-mozjs.a"
	@set -ex; $(foreach v,$(MOZJS_VERSIONS),\
	  $(call binding_pc,jsprof-mozjs-$(v),jsprof-mozjs-$(v),mozjs-$(v));)
	ln -sf jsprof-mozjs-$(MOZJS_DEFAULT).pc "$(LIBROOT)/pkgconfig/jsprof-mozjs.pc"

uninstall-mozjs:
	rm -f "$(ROOT)/include/jsprof-mozjs.h" "$(LIBROOT)/libjsprof-mozjs.a"
	rm -f "$(LIBROOT)/pkgconfig/jsprof-mozjs.pc"
	@set -ex; $(foreach v,$(MOZJS_VERSIONS),rm -f "$(LIBROOT)/libjsprof-mozjs-$(v).a" \
	  "$(LIBROOT)/pkgconfig/jsprof-mozjs-$(v).pc";)
endif

# -- GJS -----------------------------------------------------------------------------------

ifneq ($(GJS),)
# Functions of libraries that gjs-console replaces; the preloaded library's are in its exports.map.
GJS_REPLACES = pthread_setname_np g_type_register_static_simple g_callable_info_create_closure \
  g_closure_set_meta_marshal g_signal_connect_closure_by_id \
  g_callable_info_destroy_closure gi_callable_info_create_closure \
  gi_callable_info_destroy_closure _ZN2JS11SetJobQueue* _ZN2JS4CallEP9JSContext*S4_* \
  _ZN2JS17AddPersistentRootEPNS_14RootingContext*
GJS_LIBS = $$(pkg-config --libs mozjs-$(GJS_MOZJS) gjs-1.0)
RELAY_OBJ := $(call objects,$(RELAY_SRC))
PRELOAD_SO := $(B)/lib/jsprof/libjsprof-gjs.so
PRELOAD_BIN := $(B)/bin/jsprof-gjs
# The folder of PRELOAD_SO where they are installed, seen from the folder above bin.
PRELOAD_BELOW = $(patsubst $(PREFIX)/%,%,$(LIBDIR))/jsprof
PRELOAD_OBJ := $(B)/obj/bindings/mozjs/preload/jsprof_gjs.o
$(PRELOAD_OBJ): BASE_CFLAGS += -DLAUNCH_BELOW='"$(PRELOAD_BELOW)"'
$(PRELOAD_OBJ): $(B)/obj/preload_below
$(B)/obj/preload_below: FORCE
	@mkdir -p $(@D)
	@echo '$(PRELOAD_BELOW)' | cmp -s - $@ || echo '$(PRELOAD_BELOW)' >$@

all: $(PRELOAD_SO) $(PRELOAD_BIN)

$(GJS): $(call mozjs_objects,$(GJS_MOZJS),$(basename $(notdir $(CXX_SRC)))) $(RELAY_OBJ) \
  $(B)/lib/libjsprof.a
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CXX) -o $@ $^ $(GJS_REPLACES:%=-Wl,--export-dynamic-symbol='%') $(ALL_LDFLAGS) \
	  $(GJS_LIBS)

$(PRELOAD_SO): $(call mozjs_objects,$(GJS_MOZJS),$(MOZJS_PARTS) preload/preload recording \
  request errors farewell counts coverage script sources threads frames painting tasks signals) $(RELAY_OBJ) \
  $(B)/lib/libjsprof.a bindings/mozjs/preload/exports.map
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CXX) -shared -o $@ -Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs \
	  -Wl,--version-script=bindings/mozjs/preload/exports.map \
	  $(filter %.o %.a,$^) $(ALL_LDFLAGS) $$(pkg-config --libs mozjs-$(GJS_MOZJS))

$(PRELOAD_BIN): $(call objects,bindings/mozjs/preload/jsprof_gjs.c) $(call \
  mozjs_objects,$(GJS_MOZJS),preload/launch request) $(RELAY_OBJ) $(B)/lib/libjsprof.a
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CXX) -o $@ $^ $(ALL_LDFLAGS)

installable: $(GJS) $(PRELOAD_SO) $(PRELOAD_BIN)
install: install-gjs
uninstall: uninstall-gjs
.PHONY: install-gjs uninstall-gjs

# jsprof-gjs loads its library from LIBDIR, or in the build folder from lib. GJS looks for
# modules in the folder gjs-1.0 of each folder of XDG_DATA_DIRS.
install-gjs: $(GJS) $(PRELOAD_SO) $(PRELOAD_BIN)
	install -d "$(ROOT)/bin" "$(LIBROOT)/jsprof" "$(ROOT)/share/gjs-1.0"
	install -m 755 $(GJS) "$(ROOT)/bin/$(GJS_CONSOLE)"
	install -m 644 bindings/mozjs/jsprof.js "$(ROOT)/share/gjs-1.0"
	install -m 755 $(PRELOAD_BIN) "$(ROOT)/bin"
	install -m 755 $(PRELOAD_SO) "$(LIBROOT)/jsprof"

uninstall-gjs:
	rm -f "$(ROOT)/bin/$(GJS_CONSOLE)" "$(ROOT)/bin/jsprof-gjs"
	rm -f "$(LIBROOT)/jsprof/libjsprof-gjs.so" "$(ROOT)/share/gjs-1.0/jsprof.js"
	rmdir "$(LIBROOT)/jsprof" "$(ROOT)/share/gjs-1.0" 2>/dev/null || true
endif
