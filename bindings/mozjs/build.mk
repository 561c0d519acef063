# build.mk - jsprof-gjs and the library that it loads into GJS programs.
#
# SPDX-License-Identifier: MIT

ifneq ($(GJS),)
PRELOAD_SO := $(B)/lib/jsprof/libjsprof-gjs.so
PRELOAD_BIN := $(B)/bin/jsprof-gjs
PRELOAD_PARTS := $(addprefix bindings/mozjs/,recording.cpp request.cpp farewell.cpp)

all: $(PRELOAD_SO) $(PRELOAD_BIN)

$(PRELOAD_SO): $(call objects,bindings/mozjs/preload/preload.cpp $(PRELOAD_PARTS) \
  $(MOZJS_SRC) $(RELAY_SRC)) $(B)/lib/libjsprof.a bindings/mozjs/preload/exports.map
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CXX) -shared -o $@ -Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs \
	  -Wl,--version-script=bindings/mozjs/preload/exports.map \
	  $(filter %.o %.a,$^) $(ALL_LDFLAGS) $$(pkg-config --libs mozjs-102)

$(PRELOAD_BIN): $(call objects,bindings/mozjs/preload/jsprof_gjs.c \
  bindings/mozjs/preload/launch.cpp bindings/mozjs/request.cpp $(RELAY_SRC)) \
  $(B)/lib/libjsprof.a
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CXX) -o $@ $^ $(ALL_LDFLAGS)

install: install-preload
uninstall: uninstall-preload
.PHONY: install-preload uninstall-preload

install-preload: $(PRELOAD_SO) $(PRELOAD_BIN)
	install -d $(ROOT)/bin $(ROOT)/lib/jsprof
	install -m 755 $(PRELOAD_BIN) $(ROOT)/bin
	install -m 755 $(PRELOAD_SO) $(ROOT)/lib/jsprof

uninstall-preload:
	rm -f $(ROOT)/bin/jsprof-gjs $(ROOT)/lib/jsprof/libjsprof-gjs.so
	rmdir $(ROOT)/lib/jsprof 2>/dev/null || true
endif

# The example that embeds SpiderMonkey without GJS.
ifneq ($(GJS),)
all: $(B)/bin/mozjs-embedded

$(B)/obj/examples/mozjs/embedded.o: CXXFLAGS += -Ibindings/mozjs
$(B)/bin/mozjs-embedded: $(B)/obj/examples/mozjs/embedded.o $(MOZJS_LIB) \
  $(B)/lib/libjsprof.a
	@mkdir -p $(@D)
	@echo '  LD    $@'
	$(Q)$(CXX) -o $@ $^ $(ALL_LDFLAGS) $$(pkg-config --libs mozjs-102)
endif
