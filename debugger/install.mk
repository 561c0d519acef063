# install.mk - the scripts for debuggers: one package of Python, and a small file for each object
# that embeds the library, at the place where gdb looks for it.
#
# SPDX-License-Identifier: MIT
DEBUGGER := $(patsubst debugger/%,%,$(wildcard debugger/jsprof_debugger/*.py \
  debugger/jsprof_debugger/*/*.py))
DEBUGGED = $(LIBDIR)/libjsprof.so.$(VERSION) \
  $(if $(LUA_VERSIONS),$(LUA_VERSIONS:%=$(LIBDIR)/lua/%/jsprof.so) \
    $(LUA_VERSIONS:%=$(PREFIX)/bin/jsprof-lua%)) \
  $(if $(PRELOAD_SO),$(LIBDIR)/jsprof/libjsprof-gjs.so $(PREFIX)/bin/$(GJS_CONSOLE))
# gdb trusts and searches its own prefix; elsewhere it takes the file beside the object, if the
# user lets it (set auto-load safe-path).
DEBUGGED_AT = $(if $(filter /usr,$(PREFIX)),/usr/share/gdb/auto-load)

install: install-debugger
uninstall: uninstall-debugger
.PHONY: install-debugger uninstall-debugger
install-debugger:
	@set -ex; $(foreach f,$(DEBUGGER),\
	  install -D -m 644 debugger/$(f) "$(ROOT)/share/jsprof/$(f)";)
	$(fill_in) debugger/jsprof-gdb.py >"$(ROOT)/share/jsprof/jsprof-gdb.py"
	install -m 644 debugger/jsprof_lldb.py "$(ROOT)/share/jsprof/jsprof_lldb.py"
	@set -ex; $(foreach f,$(DEBUGGED),install -D -m 644 "$(ROOT)/share/jsprof/jsprof-gdb.py" \
	  "$(DESTDIR)$(DEBUGGED_AT)$(f)-gdb.py";)

uninstall-debugger:
	@set -ex; $(foreach f,$(DEBUGGER),rm -f "$(ROOT)/share/jsprof/$(f)";)
	rm -f "$(ROOT)/share/jsprof/jsprof-gdb.py" "$(ROOT)/share/jsprof/jsprof_lldb.py"
	@set -ex; $(foreach f,$(DEBUGGED),rm -f "$(DESTDIR)$(DEBUGGED_AT)$(f)-gdb.py";)
	-@rmdir "$(ROOT)/share/jsprof/jsprof_debugger/hosts" "$(ROOT)/share/jsprof/jsprof_debugger" \
	  "$(ROOT)/share/jsprof" 2>/dev/null || true
