# native/build.mk - libjsprof-native.so, which `jsprof record -- PROGRAM` preloads.
#
# SPDX-License-Identifier: MIT

NATIVE_SO := $(B)/lib/jsprof/libjsprof-native.so
# The folder of NATIVE_SO where it is installed, seen from the folder above bin.
NATIVE_BELOW = $(patsubst $(PREFIX)/%,%,$(LIBDIR))/jsprof
NATIVE_LAUNCH := $(B)/obj/src/serve/launch.o
$(NATIVE_LAUNCH): BASE_CFLAGS += -DLAUNCH_BELOW='"$(NATIVE_BELOW)"'
$(NATIVE_LAUNCH): $(B)/obj/native_below
$(B)/obj/native_below: FORCE
	@mkdir -p $(@D)
	@echo '$(NATIVE_BELOW)' | cmp -s - $@ || echo '$(NATIVE_BELOW)' >$@

$(NATIVE_SO): $(call objects,$(wildcard bindings/native/*.c) src/serve/interpreter.c) \
  $(B)/lib/libjsprof.a \
  bindings/native/exports.map
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CC) -shared -o $@ -Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs \
	  -Wl,--version-script=bindings/native/exports.map $(filter %.o %.a,$^) $(ALL_LDFLAGS) -ldl

tool: $(NATIVE_SO)
install: install-native
uninstall: uninstall-native
.PHONY: install-native uninstall-native

install-native: $(NATIVE_SO)
	install -d "$(LIBROOT)/jsprof"
	install -m 755 $(NATIVE_SO) "$(LIBROOT)/jsprof"

uninstall-native:
	rm -f "$(LIBROOT)/jsprof/libjsprof-native.so"
	rmdir "$(LIBROOT)/jsprof" 2>/dev/null || true
