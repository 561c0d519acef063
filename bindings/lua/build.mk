# build.mk - the Lua binding, once for each Lua that is installed: the module
# lib/lua/VERSION/jsprof.so, the library lib/libjsprof-luaVERSION.a for hosts, and the
# program bin/jsprof-lua.
#
# SPDX-License-Identifier: MIT

# Every Lua that the binding knows, oldest first. Programs get the list as "5.1|5.2|...|jit".
LUA_KNOWN = 5.1 5.2 5.3 5.4 5.5 jit
lua_pkg = lua$(1)
# LUA=no skips the binding. LuaJIT's walker is for x86-64 only.
ifneq ($(LUA),no)
LUA_VERSIONS := $(strip $(foreach v,$(if $(findstring x86_64,$(MACHINE)),$(LUA_KNOWN),\
  $(filter-out jit,$(LUA_KNOWN))),$(if $(shell pkg-config --exists $(call lua_pkg,$(v)) \
  2>/dev/null && echo yes),$(v))))
endif
lua_space := $(subst x,,x x)
lua_known = -DJSPROF_LUA_KNOWN='"$(subst $(lua_space),|,$(LUA_KNOWN))"'
# One set of objects for each Lua: the files of this folder and of calls/, and its walker.
lua_names = $(patsubst bindings/lua/%.c,%,$(wildcard bindings/lua/$(1)*.c))
# What a program that requires the module needs beside it, and what belongs to no library.
LUA_MODULE = api_module called environment errors imports loop module module_functions module_options \
  tasks task_turns task_wraps threads traces wraps memory watch
LUA_PROGRAM = $(filter-out api_module,$(LUA_MODULE)) main fatal_signals $(LUA_LIBRARY)
LUA_LIBRARY = api_linked
LUA_COMMON = $(filter-out $(LUA_MODULE) $(LUA_PROGRAM) $(LUA_LIBRARY) launch preload,$(call lua_names)) \
  $(call lua_names,calls/)
lua_objects = $(patsubst %,$(B)/obj/bindings/lua/$(1)/%.o,$(LUA_COMMON) \
  $(call lua_names,$(if $(filter jit,$(1)),jit/,puc/)) $(2))
lua_layout = '"puc/layout_$(subst .,,$(1)).h"'

# Distributions link their interpreter with the archive, which is faster than the shared library
# and gives scripts' modules all of Lua. LUA_ARCHIVE=no, or no archive: the shared library.
lua_libs = $(shell pkg-config --libs $(lua_pkg))
lua_archive = $(if $(filter no,$(LUA_ARCHIVE)),,$(wildcard $(shell $(CC) $(LDFLAGS) \
  -print-file-name=$(patsubst -l%,lib%.a,$(filter -llua%,$(lua_libs))))))
lua_whole = $(if $(lua_archive),-Xlinker --whole-archive $(lua_archive) -Xlinker --no-whole-archive \
  $(filter-out -llua%,$(shell pkg-config --static --libs $(lua_pkg))),$(lua_libs))

LUA_MODULES = $(LUA_VERSIONS:%=$(B)/lib/lua/%/jsprof.so)
LUA_LIBS = $(LUA_VERSIONS:%=$(B)/lib/libjsprof-lua%.a)

LUA_PROGRAMS = $(LUA_VERSIONS:%=$(B)/bin/jsprof-lua%) \
  $(if $(LUA_VERSIONS),$(B)/bin/jsprof-lua) $(LUA_VERSIONS:%=$(B)/bin/lua-host%)

.PHONY: lua
lua: $(LUA_MODULES) $(LUA_LIBS) $(LUA_PROGRAMS) ## the Lua modules and jsprof-lua
all: lua

define lua_rules
$(B)/obj/bindings/lua/$(1)/%.o: bindings/lua/%.c $(B)/obj/flags
	@mkdir -p $$(@D)
	@echo '  CC    $$< ($(1))'
	$$(Q)$$(CC) $$(BASE_CFLAGS) $$(if $$(SAN),$$(SAN) -w) $$(CPPFLAGS) $$(CFLAGS) -Ibindings/lua \
	  $$(patsubst -I%,-isystem %,$$(shell pkg-config --cflags $(call lua_pkg,$(1)))) \
	  -DJSPROF_LUA_LAYOUT=$(call lua_layout,$(1)) $(lua_known) $$(DEPENDENCIES) -c -o $$@ $$<

# Preloaded, it comes into processes without a Lua too: all that Lua has is weak there.
$(B)/lib/lua/$(1)/jsprof.so: $(call lua_objects,$(1),$(LUA_MODULE) preload) \
  $(B)/lib/libjsprof.a
	@mkdir -p $$(@D)
	@echo '  LD    $$@'
	$$(Q)$$(RELOCATABLE) -o $(B)/obj/lua$(1)-module.o $$(filter %.o,$$^)
	$$(Q)$$(OBJCOPY_TOOL) -w --weaken-symbol 'lua*' $(B)/obj/lua$(1)-module.o
	$$(Q)$$(CC) -shared -o $$@ $(B)/obj/lua$(1)-module.o $(B)/lib/libjsprof.a \
	  $$(ALL_LDFLAGS) -Wl,-z,nodelete

$(B)/lib/libjsprof-lua$(1).a: $(call lua_objects,$(1),$(LUA_LIBRARY))
	@mkdir -p $$(@D)
	@echo '  AR    $$@'
	$$(Q)$$(RELOCATABLE) -o $(B)/obj/libjsprof-lua$(1).o $$^
	$$(Q)$$(OBJCOPY_TOOL) --localize-hidden $(B)/obj/libjsprof-lua$(1).o
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $(B)/obj/libjsprof-lua$(1).o

# It shows Lua's functions to the modules that a script loads.
$(B)/bin/jsprof-lua$(1): $(call lua_objects,$(1),$(LUA_PROGRAM)) $(B)/lib/libjsprof.a
	@mkdir -p $$(@D)
	@echo '  LD    $$@'
	$$(Q)$$(CC) -o $$@ $$^ $$(ALL_LDFLAGS) -Wl,-E $$(call lua_whole,$(1))

# The example of a program that embeds this Lua.
$(B)/obj/examples/lua-host/$(1)/main.o: examples/lua-host/main.c $(B)/obj/flags
	@mkdir -p $$(@D)
	@echo '  CC    $$< ($(1))'
	$$(Q)$$(CC) $$(BASE_CFLAGS) $$(if $$(SAN),$$(SAN) -w) $$(CPPFLAGS) $$(CFLAGS) -Ibindings/lua \
	  $$(patsubst -I%,-isystem %,$$(shell pkg-config --cflags $(call lua_pkg,$(1)))) \
	  $$(DEPENDENCIES) -c -o $$@ $$<

$(B)/bin/lua-host$(1): $(B)/obj/examples/lua-host/$(1)/main.o $(B)/lib/libjsprof-lua$(1).a \
  $(B)/lib/libjsprof.a
	@mkdir -p $$(@D)
	@echo '  LD    $$@'
	$$(Q)$$(CC) -o $$@ $$^ $$(ALL_LDFLAGS) $$(shell pkg-config --libs $(call lua_pkg,$(1)))
endef
$(foreach v,$(LUA_VERSIONS),$(eval $(call lua_rules,$(v))))

$(B)/obj/bindings/lua/launch.o: BASE_CFLAGS += $(lua_known)
$(B)/bin/jsprof-lua: $(B)/obj/bindings/lua/launch.o
	$(call link)

# What LuaRocks builds: the module of its own Lua.
.PHONY: lua-rock
lua-rock: lua
	install -d $(B)/lib/lua/rock
	install -m 755 $(B)/lib/lua/$$($(ROCK_LUA) -e \
	  'print(jit and "jit" or _VERSION:match("%d.%d"))')/jsprof.so $(B)/lib/lua/rock

# The binding's tests once more under the address sanitizer.
.PHONY: lua-asan run-lua-tests
lua-asan:
	+$(Q)$(MAKE) B=$(B)-asan SAN='$(SAN_asan) -fno-omit-frame-pointer' MOZJS=no run-lua-tests
run-lua-tests: lua tool
	@B='$(B)' CC='$(CC)' STRICT='$(STRICT)' TEST_TIMEOUT=600 sh tests/run.sh \
	  $(filter-out $(wildcard tests/lua/lib*.sh),$(wildcard tests/lua/*.sh))

# Lua 5.1 and LuaJIT look for modules in the same folders: LuaJIT's is kept apart, and choose.lua
# is found by both.
LUA_ROOT = $(LIBROOT)/lua
# jsprof-lua.pc is for the newest Lua that is not LuaJIT, or for that.
LUA_DEFAULT = $(lastword $(filter jit,$(LUA_VERSIONS)) $(filter-out jit,$(LUA_VERSIONS)))
LUA_SHARED = $(filter 5.1 jit,$(LUA_VERSIONS))
LUA_INSTALLED = $(LUA_MODULES) $(LUA_LIBS) $(LUA_VERSIONS:%=$(B)/bin/jsprof-lua%) $(B)/bin/jsprof-lua
LUA_MAN = $(ROOT)/share/man/man1
installable: $(if $(LUA_VERSIONS),$(LUA_INSTALLED))
.PHONY: install-lua uninstall-lua
install-lua: $(LUA_INSTALLED)
	install -d "$(ROOT)/bin" "$(ROOT)/include" "$(LIBROOT)/pkgconfig"
	install -m 755 $(B)/bin/jsprof-lua $(LUA_VERSIONS:%=$(B)/bin/jsprof-lua%) "$(ROOT)/bin"
	install -m 644 bindings/lua/jsprof-lua.h "$(ROOT)/include"
	install -m 644 $(LUA_LIBS) "$(LIBROOT)"
	@set -ex; $(foreach v,$(LUA_VERSIONS),\
	  install -D -m 755 $(B)/lib/lua/$(v)/jsprof.so "$(LUA_ROOT)/$(v)/jsprof.so"; \
	  $(call binding_pc,jsprof-lua$(v),jsprof-lua$(v),$(call lua_pkg,$(v)));)
	ln -sf jsprof-lua$(LUA_DEFAULT).pc "$(LIBROOT)/pkgconfig/jsprof-lua.pc"
	install -d "$(LUA_MAN)"
	@set -ex; $(foreach v,$(LUA_VERSIONS),ln -sf jsprof-lua.1 "$(LUA_MAN)/jsprof-lua$(v).1";)
	$(if $(LUA_SHARED),install -d "$(ROOT)/share/lua/5.1")
	$(if $(LUA_SHARED),$(fill_in) bindings/lua/choose.lua >"$(ROOT)/share/lua/5.1/jsprof.lua")

uninstall-lua:
	rm -f "$(ROOT)/bin/jsprof-lua" "$(ROOT)/include/jsprof-lua.h"
	rm -f "$(LIBROOT)/pkgconfig/jsprof-lua.pc"
	$(if $(LUA_SHARED),rm -f "$(ROOT)/share/lua/5.1/jsprof.lua")
	@set -ex; $(foreach v,$(LUA_VERSIONS),rm -f "$(ROOT)/bin/jsprof-lua$(v)" \
	  "$(LIBROOT)/libjsprof-lua$(v).a" "$(LIBROOT)/pkgconfig/jsprof-lua$(v).pc" \
	  "$(LUA_ROOT)/$(v)/jsprof.so" "$(LUA_MAN)/jsprof-lua$(v).1";)
