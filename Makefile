# weir - `make help` lists the targets.
#
# Three builds stand side by side: release (build/), debug (build/debug/) and san (build/san/: AddressSanitizer and
# UndefinedBehaviorSanitizer). V=release|debug|san chooses; everything that is built goes under build/. A fourth, cov, counts
# what the tests run. V=1 is the release build with every command in full.
V ?= release
LOUD := $(filter 1,$(V))
override V := $(if $(LOUD),release,$(V))
# $(call say,CC core/x.c) before a command of a recipe prints that, or the command where V=1.
say = $(if $(LOUD),,@echo "$1";)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
CC = gcc
VERSION := $(shell sed -n 's/^.define WEIR_VERSION "\(.*\)"/\1/p' core/weir.h)

OUT := $(if $(filter release,$(V)),build,build/$(V))
OBJ := build/obj/$(V)
LUA := lua5.4
LUA_CFLAGS := -I/usr/include/lua5.4
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
OPT_release := -O2 -g -DNDEBUG
OPT_debug := -O0 -g
OPT_cov := -O0 -g -DNDEBUG --coverage
OPT_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
OPT_san := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS += -std=c11 -D_GNU_SOURCE $(WARN) $(OPT_$(V))
LDFLAGS += $(if $(filter tsan,$(V)),-fsanitize=thread) $(if $(filter san,$(V)),-fsanitize=address$(,)undefined) $(if $(filter cov,$(V)),--coverage)
, := ,
LIBS := -ljansson -lyajl -lhwloc -lyaml -lexpat -lsqlite3 -lm
LUA_LIBS := -ledit
# A program has Lua with it; a module has that of the program that loads it.
LUA_LINK := -llua5.4

# ---- the packages, each after those it uses: lua/NAME, bindings/NAME where there is C, spec/NAME ----
# A package is built where the libraries that its C includes are there; PACKAGES="weir weir-sim" chooses.
ALL_PACKAGES := weir weir-sim weir-serve weir-flux
NEEDS_weir-sim := weir
NEEDS_weir-serve := weir weir-sim
NEEDS_weir-flux := weir weir-sim weir-serve
HEADERS_weir-serve := openssl/ssl.h curl/curl.h
NET_LIBS := -lssl -lcrypto
HASH := \#
has_headers = $(if $1,$(shell printf '$(foreach h,$1,$(HASH)include <$h>\n)' | $(CC) -E -x c - >/dev/null 2>&1 || echo no))
MISSING := $(foreach p,$(ALL_PACKAGES),$(if $(call has_headers,$(HEADERS_$p)),$p))
PACKAGES := $(foreach p,$(ALL_PACKAGES),$(if $(filter $(MISSING),$p $(NEEDS_$p)),,$p))
LEFT_OUT := $(filter-out $(PACKAGES),$(ALL_PACKAGES))
why_out = $(if $(filter $1,$(MISSING)),no header $(foreach h,$(HEADERS_$1),$(if $(call has_headers,$h),$h)),it uses $(filter $(MISSING),$(NEEDS_$1)))

CORE_C := $(sort $(shell find core -name '*.c'))
CORE := $(CORE_C:%.c=$(OBJ)/%.o)
# What every graph is made with stands together in the program: that touches fewer pages than the order of the alphabet.
NEAR := $(foreach n,base strtab map32 graph observer structure vertex pool uuid schema rows candidate_index node_table nogood rank_order \
	reservation occupancy usage_totals job journal load formats input grug grug_read,$(filter %/$n.o,$(CORE)))
BIND_C := $(sort $(shell find bindings/weir -name '*.c'))
BIND := $(patsubst %.c,$(OBJ)/%.o,$(filter-out bindings/weir/main.c,$(BIND_C)))
NET_C := $(wildcard bindings/weir-serve/*.c)
# What a C module of another package has of weir's binding: classes, options, results.
NET := $(patsubst %.c,$(OBJ)/%.o,$(NET_C) $(addprefix bindings/weir/handle/,state.c support.c suggest.c))
TEST_C := $(sort $(shell find spec -name 'test_*.c'))
TESTS := $(patsubst %.c,$(OUT)/test/%,$(notdir $(TEST_C))) $(OUT)/test/drive_module
# With what pages are made of.
PAGE_FILES := \( -name '*.lua' -o -name '*.js' -o -name '*.css' \)
# The modules of all packages have names weir.NAME and come to lie in one folder.
luas_of = $(patsubst lua/$1/%,$(OUT)/lua/weir/%,$(sort $(shell find lua/$1 -path '*/systemd' -prune -o $(PAGE_FILES) -print)))
LUAS := $(foreach p,$(PACKAGES),$(call luas_of,$p))
# A module that has moved, or is of a package that is not built, leaves no copy behind.
STALE := $(filter-out $(LUAS) $(OUT)/lua/weir/reference.lua $(OUT)/lua/weir/known_commands.lua,$(shell find $(OUT)/lua $(PAGE_FILES) 2>/dev/null)) \
  $(if $(filter weir-serve,$(PACKAGES)),,$(wildcard $(OUT)/lua/weir/serve/net.so))
$(if $(strip $(STALE)),$(shell rm -f $(STALE)))
SPECS := $(sort $(shell find spec -path spec/deep -prune -o -name '*_spec.lua' -print))
# The specs of a package, which run where it is installed with those that it needs; the other specs need all packages.
RUN = $(SPECS)
specs_of = $(filter spec/$1/% $(if $(filter weir,$1),spec/core/% spec/policies/%),$(SPECS))
SPECS_OF_ALL := $(filter-out $(foreach p,$(ALL_PACKAGES),$(call specs_of,$p)),$(SPECS))
# The files of specs that are given by the ends of their names: "walk", "serve/limits".
specs = $(foreach s,$1,$(filter %/$s_spec.lua,$(SPECS)))
# Specs that check runs under sanitizers: those of the C code, but for those that take long. The others run there in check-deep.
SAN_LONG := convert explain store/document store/difference match/whole_nodes sandbox_attacks memory wrong_values queue_attacks
SAN_SPECS = $(filter-out $(call specs,$(SAN_LONG)),$(filter spec/core/% spec/policies/% spec/seeds/% spec/weir/bindings/%,$(SPECS)))

.PHONY: weir doc always tsan tsan-run portability analyze flux no-flux check-flux all report build deps demo check check-deep check-install $(ALL_PACKAGES:%=alone-%) spec-installed test-c spec scenarios soak gcstress coverage valgrind fuzz lint layers format bench bench-counts install uninstall dist deb clean help
.DELETE_ON_ERROR:

# What is built after `deps` is built by a make of its own, which sees what deps has installed; and -j does not run both at once.
all: deps ## dependencies, then the release build of every package whose libraries are there
	@$(MAKE) --no-print-directory report
report: build
	@$(foreach p,$(LEFT_OUT),echo "$p is left out: $(call why_out,$p)";)
	@if [ -e $(OUT)/fresh ]; then rm -f $(OUT)/fresh; echo "$(OUT)/weir is built"; else echo "$(OUT)/weir is up to date"; fi
build: $(OUT)/built
$(OUT)/built: $(OUT)/weir $(if $(filter weir-serve,$(PACKAGES)),$(OUT)/lua/weir/serve/net.so) $(OUT)/libweir.a $(OUT)/libweir.so $(OUT)/lua/weir/core.so $(OUT)/doc/policy.md $(PACKAGES:%=$(OUT)/doc/made-%)
	@touch $@ $(OUT)/fresh

weir: ## the package weir alone: machines, requests, policies, scenarios
	@$(MAKE) --no-print-directory PACKAGES=weir build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

JOBS := $(shell nproc)

# ---- dependencies: Debian packages, installed where one is missing ----
DEBIAN := gcc libc6-dev lua5.4 liblua5.4-dev libjansson-dev libhwloc-dev libhwloc-plugins libyaml-dev libexpat1-dev \
  libyajl-dev libsqlite3-dev sqlite3 libedit-dev libssl-dev libcurl4-openssl-dev etcd-server lua-luv lua-busted \
  lua-check clang clang-format libclang-rt-dev graphviz locales pkgconf cmark-gfm mandoc
deps: ## install the Debian packages that are missing
	@missing=; there=" $$(dpkg-query -W -f='$${db:Status-Abbrev}$${Package} ' $(DEBIAN) 2>/dev/null)"; for p in $(DEBIAN); do \
	  case "$$there" in *" ii $$p "*|*" hi $$p "*) ;; *) missing="$$missing $$p";; esac; done; \
	if [ -n "$$missing" ]; then sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; echo "installing:$$missing"; \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; fi

# ---- building ----
# Shared objects offer only the functions that core/weir.h declares: all else is hidden.
HIDDEN := -fvisibility=hidden
$(OBJ)/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CFLAGS) $(HIDDEN) -fPIC -MMD -MP -Icore -c $< -o $@
$(OBJ)/bindings/%.o: bindings/%.c
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CFLAGS) $(HIDDEN) -fPIC -MMD -MP -Icore -Ibindings/weir $(LUA_CFLAGS) -c $< -o $@
vpath test_%.c $(sort $(dir $(TEST_C)))
compile_test = $(call say,CC $<)mkdir -p $(@D) && $(CC) $(CFLAGS) -MMD -MP -Icore -Ibindings/weir -Ispec/c $(LUA_CFLAGS) -c $< -o $@
$(OBJ)/test/test_%.o: test_%.c
	$(compile_test)
$(OBJ)/test/%.o: spec/c/%.c
	$(compile_test)

# The examples in the comments of weir.h.
$(OBJ)/test/test_examples.o: CFLAGS += -Werror -I$(OUT)/test
$(OBJ)/test/test_examples.o: $(OUT)/test/examples.h
$(OUT)/test/examples.h: core/weir.h spec/tools/examples.lua
	@mkdir -p $(@D)
	$(call say,GEN $@)$(LUA) spec/tools/examples.lua $< $@

$(OUT)/libweir.a: $(CORE)
	@mkdir -p $(@D)
	$(call say,AR $@)rm -f $@ && ar rcs $@ $^
$(OUT)/libweir.so: $(CORE) core/weir.map
	$(call say,LD $@)$(CC) $(LDFLAGS) -shared -Wl,-soname,libweir.so.0 -Wl,--version-script=core/weir.map -o $@ $(CORE) $(LIBS)
$(OUT)/lua/weir/core.so: $(BIND) $(CORE) bindings/weir/module.map
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -shared -Wl,--version-script=bindings/weir/module.map -o $@ $(BIND) $(CORE) $(LIBS) $(LUA_LIBS)
$(OUT)/lua/weir/serve/net.so: $(NET) $(OUT)/libweir.a bindings/weir-serve/module.map
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -shared -Wl,--version-script=bindings/weir-serve/module.map -o $@ $(NET) $(OUT)/libweir.a $(NET_LIBS)
$(OUT)/weir: $(OBJ)/bindings/weir/main.o $(BIND) $(OUT)/libweir.a $(LUAS) $(OUT)/lua/weir/known_commands.lua $(OUT)/packages | build/policies
	$(call say,LD $@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(NEAR) $(OUT)/libweir.a $(LIBS) $(LUA_LIBS) $(LUA_LINK) -Wl,-E
define copy_lua
$(OUT)/lua/weir/%: lua/$1/%
	@mkdir -p $$(@D)
	$$(if $$(LOUD),,@)cp $$< $$@
endef
$(foreach p,$(PACKAGES),$(eval $(call copy_lua,$p)))
# Which package has which command, for what `weir` says of a command that is not installed.
$(OUT)/lua/weir/known_commands.lua: spec/tools/known_commands.lua $(wildcard lua/*/packages/*.lua)
	@mkdir -p $(@D)
	$(if $(LOUD),,@)$(LUA) $< $@ $(wildcard lua/*/packages/*.lua)
# Where other packages are built than before, their files are copied again.
$(OUT)/packages: always
	@mkdir -p $(@D); echo '$(PACKAGES)' | cmp -s - $@ || echo '$(PACKAGES)' > $@
build/policies:
	@mkdir -p build && ln -sfn ../policies $@
build/test/pty.so: spec/support/pty.c # a pseudo-terminal for specs
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(filter-out $(OPT_$(V)),$(CFLAGS)) -O1 -fPIC $(LUA_CFLAGS) -shared -o $@ $< -lutil
build/test/counting.so: spec/bench/counting.c # parts of a profile of callgrind for benchmarks
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(filter-out $(OPT_$(V)),$(CFLAGS)) -O1 -fPIC $(LUA_CFLAGS) -shared -o $@ $<
build/test/flat_counter: spec/bench/flat_counter.c # a replay that counts processors, for the benchmark of replays
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(filter-out $(OPT_$(V)),$(CFLAGS)) -O2 -o $@ $<
build/test/faults.so: spec/support/faults.c # system calls that fail, for specs
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(filter-out $(OPT_$(V)),$(CFLAGS)) -O1 -fPIC -Wno-pedantic -shared -o $@ $< -ldl
build/test/manager: spec/c/manager.c # a service manager for specs
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(filter-out $(OPT_$(V)),$(CFLAGS)) -O1 -o $@ $<
# The host can make each allocation of C fail, see spec/c/lua_host.c.
$(OUT)/test/lua_host: LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
$(OUT)/test/lua_host: $(OBJ)/test/lua_host.o $(BIND) $(OUT)/libweir.a
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) $(LUA_LIBS) $(LUA_LINK) -Wl,-E
$(OUT)/test/%: $(OBJ)/test/%.o $(OUT)/libweir.a
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -o $@ $< $(OUT)/libweir.a $(LIBS)
# The page of the policy contract, and annotations for editors; fails when something is in no comment.
$(OUT)/doc/policy.md: $(OUT)/weir $(OUT)/lua/weir/core.so spec/tools/manual.lua $(BIND_C) lua/weir/init.lua lua/weir/engine.lua lua/weir/staging.lua \
  lua/weir/explain/init.lua lua/weir/sim/queue_runtime.lua $(addprefix lua/weir/scenario/,init.lua job.lua assertions.lua) doc/reference/policy-hooks.md
	@mkdir -p $(@D)/weir
	$(call say,DOC $@)$(OUT)/weir run spec/tools/manual.lua $@ $(OUT)/doc/weir.lua $(OUT)/lua/weir/reference.lua
# The man pages of each package, from the tables of its commands: a folder for each package.
$(OUT)/doc/made-%: $(OUT)/weir spec/tools/manpage.lua spec/tools/manpage_serve.lua spec/tools/roff.lua
	$(call say,DOC $(OUT)/doc/man/$*)rm -rf $(OUT)/doc/man/$* && $(OUT)/weir run spec/tools/manpage.lua $* $(OUT)/doc/man/$* && touch $@
$(OUT)/doc/made-weir-serve: $(wildcard lua/weir-serve/serve/methods/*.lua)

# The manual as HTML, where cmark-gfm and mandoc are there.
DOC_TOOLS := $(and $(shell command -v cmark-gfm),$(shell command -v mandoc))
doc: build ## the manual as HTML: build/doc/index.html
	@$(if $(DOC_TOOLS),$(MAKE) --no-print-directory $(OUT)/doc/index.html,echo "no cmark-gfm or no mandoc here: the manual is not made (make deps installs them)")
$(OUT)/doc/index.html: $(OUT)/built spec/tools/site.lua $(wildcard spec/tools/site/* doc/*.md doc/*/*.md policies/*.lua policies/queue/*.lua)
	$(call say,DOC $@)$(OUT)/weir run spec/tools/site.lua $(OUT)/doc

# ---- the scheduler of a Flux instance, where pkg-config finds flux-core ----
FLUX_PKGS := flux-core flux-schedutil
FLUX := $(shell pkg-config --exists $(FLUX_PKGS) 2>/dev/null && echo yes)
FLUX_CFLAGS = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(FLUX_PKGS))) -Icore -Ibindings/weir $(LUA_CFLAGS)
FLUX_LIBS = $(shell pkg-config --libs $(FLUX_PKGS)) -Wl,-rpath,$(shell pkg-config --variable=libdir flux-core)
# What the broker loads; the other files are of the command `flux weir`.
MODULE := $(filter-out $(addprefix bindings/weir-flux/,command.c shadow.c),$(wildcard bindings/weir-flux/*.c))
FLUX_MODULE := $(patsubst bindings/weir-flux/%.c,$(OBJ)/flux/%.o,$(MODULE))
flux: $(if $(FLUX),build $(OUT)/flux/sched-weir.so $(OUT)/flux/flux-weir $(OUT)/flux/modprobe.d/sched-weir.toml,no-flux) ## the scheduler module, where flux-core is installed
check-flux: flux ## instances of Flux with weir as their scheduler, where flux-core is installed
	@sh spec/weir-flux/live/check.sh $(CURDIR)/$(OUT)
# The module without Flux: a driver in place of the broker. The thread sanitizer looks at both of its threads.
FAKE := -Ispec/weir-flux/module/fake
$(OBJ)/driver/%.o: bindings/weir-flux/%.c
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CFLAGS) -MMD -MP $(FAKE) -Icore -Ibindings/weir $(LUA_CFLAGS) -c $< -o $@
$(OBJ)/driver/%.o: spec/weir-flux/module/%.c
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CFLAGS) -MMD -MP $(FAKE) -Ispec/weir-flux/module -Ispec/c -Icore -c $< -o $@
$(OBJ)/driver/%.o: spec/weir-flux/module/fake/%.c
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CFLAGS) -MMD -MP $(FAKE) -c $< -o $@
DRIVER := $(patsubst bindings/weir-flux/%.c,$(OBJ)/driver/%.o,$(MODULE)) \
  $(OBJ)/driver/drive_module.o $(OBJ)/driver/fake_flux.o
$(OUT)/test/drive_module: $(DRIVER) $(BIND) $(CORE) $(LUAS) | build/policies
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS) $(LUA_LIBS) $(LUA_LINK)
tsan: ## the threads of the scheduler for Flux under the thread sanitizer, without Flux; ROUNDS=N
	@if echo 'int main(void){return 0;}' | $(CC) -fsanitize=thread -x c - -o build/test/has_tsan 2>/dev/null && build/test/has_tsan; then \
	  $(MAKE) --no-print-directory -j$(JOBS) V=tsan build/tsan/test/drive_module && $(MAKE) --no-print-directory V=tsan tsan-run; \
	else echo "the compiler has no thread sanitizer, or it does not start here: the threads are not looked at"; fi
tsan-run:
	@TSAN_OPTIONS="halt_on_error=0 exitcode=66 die_after_fork=0" bash spec/tools/run.sh $(V) $(OUT)/test/drive_module
no-flux:
	@echo "pkg-config finds no flux-core: the scheduler of a Flux instance is not built"
$(OBJ)/flux/%.o: bindings/weir-flux/%.c
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CFLAGS) -fPIC -MMD -MP $(FLUX_CFLAGS) -c $< -o $@
# The module is told where weir's Lua files are going to be; it is made again for another PREFIX.
$(OBJ)/flux/lua.o: CFLAGS += -DSCHED_WEIR_LUA='"$(PREFIX)/share/lua/5.4"'
$(OBJ)/flux/lua.o: $(OBJ)/flux/prefix
$(OBJ)/flux/prefix: always
	@mkdir -p $(@D); echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@
$(OUT)/flux/sched-weir.so: $(FLUX_MODULE) $(BIND) $(CORE) bindings/weir-flux/exports.map
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -shared -Wl,--version-script=bindings/weir-flux/exports.map -o $@ $(filter %.o,$^) $(FLUX_LIBS) $(LIBS) $(LUA_LIBS) $(LUA_LINK)
$(OUT)/flux/flux-weir: $(OBJ)/flux/command.o $(OBJ)/flux/shadow.o $(OBJ)/flux/lua.o $(BIND) $(CORE)
	@mkdir -p $(@D)
	$(call say,LD $@)$(CC) $(LDFLAGS) -o $@ $^ $(FLUX_LIBS) $(LIBS) $(LUA_LIBS) $(LUA_LINK)
$(OUT)/flux/modprobe.d/sched-weir.toml: bindings/weir-flux/sched-weir.toml
	@install -D -m 644 $< $@
.SECONDARY:
-include $(sort $(shell find build/obj build/analyze $(OBJ) -name '*.d' 2>/dev/null))

# ---- the main job ----
demo: deps ## this machine, a jobspec, a policy in Lua; then three policies next to each other
	@$(MAKE) --no-print-directory build
	@build/weir run spec/tools/demo.lua

# ---- checking ----
# Specs of pages run their scripts in Chromium and in node.
check check-deep: DEBIAN += chromium nodejs
check-deep: DEBIAN += luarocks
# What only repeats at length goes to check-deep. Each ends with a line that says what passed, how many, how long.
# Random tests, which WEIR_SPEC_SCALE shortens: check runs a third of them, check-deep all.
RANDOM_C = $(shell grep -lE 'WEIR_SPEC_SCALE|"(stored|formats)\.h"' $(TEST_C))
RANDOM_SPECS = $(shell grep -lE 'WEIR_SPEC_SCALE|\.scale|each_seed|seeds_in_groups' $(SPECS))
check: deps ## what finds mistakes in a change: lint, layers, C tests, specs, scenarios, an installed copy; the C tests and the specs of C code again under sanitizers
	@from=$$(date +%s); failed=; make="$(MAKE) --no-print-directory"; rm -f build/report.txt; \
	$$make -j$(JOBS) build doc $(TESTS) && $$make lint || exit 1; \
	WEIR_SPEC_SCALE=0.3 $$make -k test-c spec scenarios check-install RUN="$(SPECS_OF_ALL)" || failed=1; \
	$$make -j$(JOBS) V=san build $(TESTS:build/%=build/san/%) || exit 1; \
	$$make -k V=san test-c spec SPECS="$(SAN_SPECS)" || failed=1; \
	times >build/times; lua5.4 spec/tools/summary.lua check $$from && test -z "$$failed"
check-deep: deps ## what takes longer: random tests in full, the other specs and the scenarios under sanitizers, every fuzz target
	@from=$$(date +%s); failed=; make="$(MAKE) --no-print-directory"; rm -f build/report.txt; \
	$$make -j$(JOBS) build && $$make -j$(JOBS) V=san build && $$make -j$(JOBS) $(FUZZ:%=build/fuzz/fuzz_%) || exit 1; \
	$$make -k test-c spec TESTS="$(patsubst %.c,build/test/%,$(notdir $(RANDOM_C)))" SPECS="$(RANDOM_SPECS)" || failed=1; \
	$$make -k V=san spec scenarios SPECS="$(filter-out $(SAN_SPECS),$(SPECS)) $(wildcard spec/deep/*_spec.lua)" || failed=1; \
	$$make -k $(if $(filter command line,$(origin SECONDS)),,SECONDS=30 FUZZ_RUNS="-runs=3000 -seed=1") fuzz || failed=1; \
	$$make tsan || failed=1; \
	times >build/times; lua5.4 spec/tools/summary.lua check-deep $$from && test -z "$$failed"

# Runs "$1 FILE" for each of the files, as many at once as there are cores; those that fail, five at most, once more, one by one.
each = again=$$(mktemp); printf '%s\n' $2 | AGAIN=$$again xargs -P $(JOBS) -I{} bash spec/tools/run.sh $(V) {} $1; broken=$$?; \
  TRY=again xargs -r -I{} bash spec/tools/run.sh $(V) {} $1 <$$again || broken=$$?; rm -f $$again; (exit $$broken)

# Graphs made by tests have one UUID, so that texts of equal graphs are equal.
TEST_UUID := 5eed5eed-0000-4000-8000-000000000001
test-c: $(TESTS) ## the C tests of this build
	@$(if $(filter san cov,$(V)),export WEIR_SPEC_SCALE=0.2;) export WEIR_UUID=$(TEST_UUID); $(call each,,$(TESTS))

# Debian's busted starts Lua 5.1. Under sanitizers a host that has their runtime runs it. A process a file: one spec looks
# at the bare module, the others load the library on top of it.
spec: build $(OUT)/test/env build/test/pty.so build/test/faults.so build/test/manager $(OUT)/test/lua_host ## the specs of this build
	@. $(OUT)/test/env; export BUSTED; $(call each,$$BUSTED -o plainTerminal,$(RUN))

scenarios: build $(OUT)/test/env ## what the engine guarantees and the policies do, as scenarios
	@. $(OUT)/test/env; $(call each,$(OUT)/weir test,$(wildcard spec/scenarios/*.lua))

# Under sanitizers hwloc does not look for OpenCL devices: a driver's threads crash the search for leaks at the end.
# Paths of this folder: checked each time, as a copy of a tree brings the paths of the original along.
$(OUT)/test/env: always
	@mkdir -p $(@D)
	@{ echo "export WEIR_UUID=$(TEST_UUID)"; echo "export WEIR_BIN=$(CURDIR)/$(OUT)/weir WEIR_HOST=$(CURDIR)/$(OUT)/test/lua_host"; \
	   echo "export LUA_PATH='$(CURDIR)/$(OUT)/lua/?.lua;$(CURDIR)/$(OUT)/lua/?/init.lua;$(CURDIR)/?.lua;;'"; \
	   echo "export LUA_CPATH='$(CURDIR)/$(OUT)/lua/?.so;$(CURDIR)/build/test/?.so;;'"; \
	   if [ $(V) = san ]; then echo "export ASAN_OPTIONS=detect_leaks=1 HWLOC_COMPONENTS=-opencl WEIR_SPEC_SCALE=0.2"; \
	     echo "BUSTED='$(CURDIR)/$(OUT)/test/lua_host /usr/bin/busted --ignore-lua'"; else echo "BUSTED='lua5.4 /usr/bin/busted'"; fi; \
	   if [ $(V) = cov ]; then echo 'export WEIR_SPEC_SCALE=0.2'; fi; } > $@.new; \
	  cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# A line each, run beside each other, the longest first; WEIR_SPEC_FROM is the first history of a part of the million.
SOAK_TESTS := sqlite_kill sqlite engine
SOAK := $(foreach s,$(call specs,match/match time/schedule backtrack),'$$BUSTED -o plainTerminal $s') $(SOAK_TESTS:%='$(OUT)/test/test_%') \
  $(foreach i,1 2 3 4,'WEIR_SPEC_SCALE=27 WEIR_SPEC_FROM=$i000001 $$BUSTED -o plainTerminal spec/core/model_spec.lua') \
  $(foreach s,$(call specs,change store/store),'$$BUSTED -o plainTerminal $s')
soak: build $(OUT)/test/env $(SOAK_TESTS:%=$(OUT)/test/test_%) ## the random specs and the kills, thirty times as long; a million operations against the model
	@. $(OUT)/test/env; export BUSTED WEIR_SPEC_SCALE=30; $(call each,,$(SOAK))

# What each call of the module allocates is the moment of a whole collection: what is not kept alive is gone, and sanitizers see it.
GCSTRESS := operations walk copy/copy allocation
gcstress: ## these specs while garbage is collected at each allocation, under sanitizers
	@$(MAKE) --no-print-directory V=san build build/san/test/env build/san/test/lua_host
	@. build/san/test/env; export BUSTED; $(call each,$$BUSTED -o plainTerminal --helper=spec/support/gcstress.lua,$(call specs,$(GCSTRESS)))

# ---- what the tests run, and how they use memory ----
# `make coverage FILE=core/job/job.c` tells what the last run left out in these files; why some of it stays out stands in
# spec/tools/coverage_reasons.lua.
coverage: ## lines and branches that the C tests, specs and scenarios run (minutes); FILE=core/x.c: what they do not
ifeq ($(FILE),)
	@nice $(MAKE) --no-print-directory -j$(JOBS) build # some specs read the manual of this build
	@nice $(MAKE) --no-print-directory -j$(JOBS) V=cov build $(TESTS:$(OUT)/%=build/cov/%)
	@find build/obj/cov -name '*.gcda' -delete
	@nice $(MAKE) --no-print-directory -k V=cov test-c spec scenarios || failed=1; \
	  lua5.4 spec/tools/coverage.lua build/obj/cov && test -z "$$failed"
else
	@lua5.4 spec/tools/coverage.lua build/obj/cov $(FILE)
endif

# The other C tests take minutes there. Without --ignore-lua busted would start another process, which memcheck does not see.
VALGRIND_WITHOUT := hostlist_ranges incremental query_random sqlite_kill
VALGRIND_SPECS := match/match walk rset/rset jobspec jgf store/store bindings/weir/policy/policies
VALGRIND := valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite,indirect,possible \
  --errors-for-leak-kinds=definite,indirect,possible --keep-debuginfo=yes --suppressions=spec/tools/valgrind.supp
valgrind: build $(TESTS) $(OUT)/test/env ## C tests and some specs under memcheck (many minutes)
	@. $(OUT)/test/env; export WEIR_SPEC_SCALE=0.2; $(call each,nice $(VALGRIND), \
	  $(foreach s,$(call specs,$(VALGRIND_SPECS)),'lua5.4 /usr/bin/busted --ignore-lua -o plainTerminal $s') \
	  $(filter-out $(VALGRIND_WITHOUT:%=$(OUT)/test/test_%),$(TESTS)))

# ---- fuzzing: libFuzzer, every parser with all of the core instrumented ----
# `make fuzz` runs each target for SECONDS, `make fuzz-jgf SECONDS=300` one of them. Seeds stand in spec/fuzz/corpus/NAME;
# what a run adds to them, and what it finds, lies under build/fuzz. check-deep makes 3,000 runs of each target from one seed, so
# that it answers the same each time.
FUZZ := $(patsubst spec/fuzz/fuzz_%.c,%,$(wildcard spec/fuzz/fuzz_*.c))
FUZZ_CFLAGS := -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
  -fno-sanitize-recover=undefined -DWEIR_VERTICES_MAX=5000u -Icore -Ibindings/weir -Ispec/fuzz $(LUA_CFLAGS) -DWEIR_LUA='"$(CURDIR)/build/lua"'
FUZZ_OBJ := $(patsubst %.c,build/obj/fuzz/%.o,$(CORE_C) $(filter-out bindings/weir/main.c,$(BIND_C)))
SECONDS ?= 10
build/obj/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC $< for fuzzing)clang $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@
build/fuzz/libweir.a: $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(call say,AR $@)rm -f $@ && ar rcs $@ $^
build/fuzz/fuzz_%: build/obj/fuzz/spec/fuzz/fuzz_%.o build/fuzz/libweir.a
	$(call say,LD $@)clang -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS) $(LUA_LIBS) $(LUA_LINK)
fuzz: $(FUZZ:%=fuzz-%) ## runs every fuzz target for SECONDS (10)
fuzz-%: build/fuzz/fuzz_%
	@mkdir -p build/fuzz/corpus/$* build/fuzz/findings
	@bash spec/tools/run.sh fuzz "build/fuzz/corpus/$* $(wildcard spec/fuzz/corpus/$*)" build/fuzz/fuzz_$* -max_total_time=$(SECONDS) $(FUZZ_RUNS) -rss_limit_mb=2048 \
	  -timeout=10 -verbosity=0 -print_final_stats=0 -artifact_prefix=build/fuzz/findings/$*- $(if $(wildcard spec/fuzz/$*.dict),-dict=spec/fuzz/$*.dict)

lint: layers $(OUT)/test/examples.h ## clang-format, warnings of gcc and clang as errors, luacheck
	@clang-format --dry-run --Werror $(FORMATTED)
	@for cc in gcc clang; do printf '%s\n' $(CORE_C) $(BIND_C) $(NET_C) spec/c/*.c $(TEST_C) $(wildcard spec/fuzz/*.c) | xargs -P $(JOBS) -n 8 \
	  $$cc -std=c11 -D_GNU_SOURCE $(WARN) -Werror -fsyntax-only -Icore -Ibindings/weir -Ispec/c -I$(OUT)/test $(LUA_CFLAGS) || exit 1; done
	@$(if $(FLUX),for cc in gcc clang; do $$cc -std=c11 -D_GNU_SOURCE $(WARN) -Werror -fsyntax-only $(FLUX_CFLAGS) bindings/weir-flux/*.c || exit 1; done)
	@for cc in gcc clang; do $$cc -std=c11 -D_GNU_SOURCE $(WARN) -Werror -fsyntax-only $(FAKE) -Ispec/weir-flux/module -Ispec/c -Icore -Ibindings/weir $(LUA_CFLAGS) \
	  $(MODULE) spec/weir-flux/module/*.c spec/weir-flux/module/fake/*.c || exit 1; done
	@luacheck -q lua policies spec
# Each build is made anew, below build/ beside the others. What all of it is worth most for comes first.
PORT := gcc:-O0 clang:-O0 gcc:-O3 clang:-O3:-DNDEBUG gcc:-O3:-DNDEBUG clang:-O3 \
  gcc:-O1:-DNDEBUG clang:-O1 gcc:-O2 clang:-O2:-DNDEBUG gcc:-O0:-DNDEBUG clang:-O0:-DNDEBUG
PORT_SPECS := match/match reading explain walk time/schedule
portability: deps ## gcc and clang, -O0 to -O3, with and without assertions: warnings are errors; C tests and some specs (many minutes)
	@export WEIR_SPEC_SCALE=0.2; for port in $(PORT); do set -- $$(echo $$port | tr : ' '); cc=$$1; shift; \
	  out=build/$$(echo $$cc $$* | tr -d ' '); echo "-- $$cc $$*"; rm -rf $$out; \
	  make="$(MAKE) --no-print-directory -s CC=$$cc OUT=$$out OBJ=$$out/obj"; \
	  $$make -j$(JOBS) "OPT_release=$$* -Werror" build $(TESTS:build/%=$$out/%) && \
	  $$make test-c && $$make spec SPECS="$(call specs,$(PORT_SPECS))" || exit 1; done
layers: build ## no call, no #include and no require points upward; lines of C within 120 columns
	@lua5.4 spec/tools/layers.lua

# What clang's analyzer says of a file is kept under build/analyze, and asked again where the file or a header of it is newer.
# cppcheck keeps notes there by itself.
ANALYZE = clang --analyze --analyzer-output text -Xclang -analyzer-checker=core,deadcode,unix -std=c11 -D_GNU_SOURCE $(WHAT) \
  -MMD -MP -MT $@ -MF $(@:.txt=.d) -o /dev/null $< >$@.new 2>&1; mv $@.new $@
ANALYZED := $(patsubst %.c,build/analyze/%.txt,$(CORE_C) $(BIND_C) $(NET_C) $(if $(FLUX),$(wildcard bindings/weir-flux/*.c)))
build/analyze/core/%.txt: WHAT = -Icore -DANALYZE_CORE -include spec/tools/analyze.h
build/analyze/core/base/base.txt: WHAT = -Icore
build/analyze/bindings/%.txt: WHAT = -Icore -Ibindings/weir $(LUA_CFLAGS) -include spec/tools/analyze.h
build/analyze/bindings/weir-flux/%.txt: WHAT = $(FLUX_CFLAGS) -include spec/tools/analyze.h
build/analyze/%.txt: %.c
	@mkdir -p $(@D)
	$(call say,ANALYZE $<)$(ANALYZE)
analyze: ## clang's static analyzer and cppcheck; the first time takes minutes
	@nice $(MAKE) --no-print-directory -j$(JOBS) $(ANALYZED)
	@nice lua5.4 spec/tools/analyze.lua $(if $(FLUX),--flux) $(ANALYZED)
FORMATTED = $(shell find core bindings spec -name '*.[ch]')
format: ## clang-format on every C file
	clang-format -i $(FORMATTED)

bench: deps ## time and count; writes build/bench.json
	@$(MAKE) --no-print-directory build build/test/bench_jansson build/test/bench_serve build/test/flat_counter
	@build/weir run spec/bench/run.lua
	@build/weir run spec/bench/store.lua
	@build/weir run spec/bench/policy.lua
	@build/weir run spec/bench/policies.lua
	@build/weir run spec/bench/replay.lua
	@build/weir run spec/bench/decide.lua
	@build/weir run spec/bench/serve.lua
	@build/weir run spec/bench/copies.lua

# `make bench-counts BEFORE=counts.json` compares with build/counts.json of an earlier run, and fails where a row is dearer.
bench-counts: DEBIAN += valgrind
bench-counts: deps ## instructions of the rows of the benchmarks under callgrind; writes build/counts.json
	@$(MAKE) --no-print-directory build build/test/counting.so
	@build/weir run spec/bench/counts.lua $(BEFORE)

# ---- installing ----
LUA_SHARE := $(DESTDIR)$(PREFIX)/share/lua/5.4/weir
LUA_LIB := $(DESTDIR)$(LIBDIR)/lua/5.4/weir
POLICIES := $(DESTDIR)$(PREFIX)/share/weir/policies
UNITS ?= $(PREFIX)/lib/systemd/system
COMPLETIONS := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# A PREFIX that was given is all that is written to: the module then goes to where a Flux in PREFIX would have it.
FLUX_HOME = $(shell pkg-config --variable=prefix flux-core)
FLUX_PREFIX ?= $(if $(filter command line environment,$(origin PREFIX)),$(PREFIX),$(FLUX_HOME))
FLUX_DIR = $(DESTDIR)$(patsubst $(FLUX_HOME)/%,$(FLUX_PREFIX)/%,$(shell pkg-config --variable=$1 flux-core))
install: $(PACKAGES:%=install-%) ## into $(PREFIX), below DESTDIR; install-weir and so on: one package; the scheduler module to where Flux is; FLUX_PREFIX=DIR
# install-modules-NAME: what Lua finds of a package, which is all that its rock has.
define install_package
install-modules-$1::
	cd lua/$1 && find . -path '*/systemd' -prune -o $$(PAGE_FILES) -exec install -D -m 644 {} $$(abspath $$(LUA_SHARE))/{} \;
install-$1:: build install-modules-$1
	cd build/doc/man/$1 && find . -type f -exec install -D -m 644 {} $$(abspath $$(DESTDIR)$$(PREFIX)/share/man)/{} \;
endef
$(foreach p,$(ALL_PACKAGES),$(eval $(call install_package,$p)))
install-weir:: build $(if $(DOC_TOOLS),doc)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include \
	  $(LUA_LIB) $(POLICIES)/queue
	install build/weir $(DESTDIR)$(PREFIX)/bin/weir
	install -m 644 core/weir.h $(DESTDIR)$(PREFIX)/include/weir.h
	install -m 644 build/libweir.a $(DESTDIR)$(LIBDIR)/libweir.a
	install -m 644 build/libweir.so $(DESTDIR)$(LIBDIR)/libweir.so.0
	ln -sf libweir.so.0 $(DESTDIR)$(LIBDIR)/libweir.so
	install -m 644 build/lua/weir/core.so $(LUA_LIB)/core.so
	install -m 644 policies/*.lua $(POLICIES)/
	install -m 644 policies/queue/*.lua $(POLICIES)/queue/
	install -m 644 build/lua/weir/reference.lua build/lua/weir/known_commands.lua $(LUA_SHARE)/
	install -D -m 644 build/doc/policy.md $(DESTDIR)$(PREFIX)/share/weir/doc/policy.md
	cd build/doc && find . -name '*.html' -o -name '*.svg' -o -name 'site.*' -o -name search.js | xargs -I{} install -D -m 644 {} $(abspath $(DESTDIR)$(PREFIX)/share/weir/doc)/{}
	install -D -m 644 build/doc/weir.lua $(DESTDIR)$(PREFIX)/share/weir/meta/weir.lua
	install -D -m 644 build/doc/weir/scenario.lua $(DESTDIR)$(PREFIX)/share/weir/meta/weir/scenario.lua
	install -d $(COMPLETIONS)
	printf '%s\n' '# Printed by the command, for the packages that are installed.' 'eval "$$(weir completion bash)"' > $(COMPLETIONS)/weir
	printf 'prefix=%s\nlibdir=%s\nName: weir\nDescription: Lua-scriptable resource engine\nVersion: %s\nLibs: -L$${libdir} -lweir\nLibs.private: %s\nCflags: -I$${prefix}/include\n' \
	  '$(PREFIX)' '$(LIBDIR)' '$(VERSION)' '$(LIBS)' > $(DESTDIR)$(LIBDIR)/pkgconfig/weir.pc
install-modules-weir-serve:: build/lua/weir/serve/net.so
	install -D -m 644 $< $(LUA_LIB)/serve/net.so
install-weir-serve:: build
	install -d $(DESTDIR)$(UNITS)
	sed 's|@BINDIR@|$(PREFIX)/bin|' lua/weir-serve/serve/systemd/weir.service.in > $(DESTDIR)$(UNITS)/weir.service
	chmod 644 $(DESTDIR)$(UNITS)/weir.service
	install -m 644 lua/weir-serve/serve/systemd/weir.socket $(DESTDIR)$(UNITS)/weir.socket
	install -D -m 644 lua/weir-serve/serve/systemd/serve.lua $(DESTDIR)$(PREFIX)/share/weir/serve.lua
install-weir-flux:: build $(if $(FLUX),flux)
	$(if $(FLUX),install -D build/flux/sched-weir.so $(call FLUX_DIR,fluxmoddir)/sched-weir.so)
	$(if $(FLUX),install -D build/flux/flux-weir $(call FLUX_DIR,fluxcmddir)/flux-weir)
	$(if $(FLUX),install -D -m 644 bindings/weir-flux/sched-weir.toml $(call FLUX_DIR,fluxdatadir)/modprobe/modprobe.d/sched-weir.toml)

uninstall: ## what install put there
	$(if $(FLUX),rm -f $(call FLUX_DIR,fluxmoddir)/sched-weir.so $(call FLUX_DIR,fluxcmddir)/flux-weir \
	  $(call FLUX_DIR,fluxdatadir)/modprobe/modprobe.d/sched-weir.toml)
	rm -rf $(LUA_SHARE) $(DESTDIR)$(PREFIX)/share/weir $(LUA_LIB)
	rm -f $(DESTDIR)$(PREFIX)/bin/weir $(DESTDIR)$(PREFIX)/include/weir.h $(DESTDIR)$(LIBDIR)/libweir.a \
	  $(DESTDIR)$(LIBDIR)/libweir.so $(DESTDIR)$(LIBDIR)/libweir.so.0 $(DESTDIR)$(LIBDIR)/pkgconfig/weir.pc \
	  $(wildcard $(addprefix $(DESTDIR)$(PREFIX)/share/man/,man1/weir.1 man1/weir-*.1 man7/weir-*.7)) $(COMPLETIONS)/weir \
	  $(DESTDIR)$(UNITS)/weir.service $(DESTDIR)$(UNITS)/weir.socket

check-install: build $(OUT)/test/env build/test/pty.so build/test/faults.so build/test/manager $(OUT)/test/lua_host ## installs into an empty root below build/, and runs everything from there; then each package alone, with its specs
	@MAKE=$(MAKE) bash spec/tools/run.sh install $(CURDIR)/build/root sh spec/tools/check_install.sh; broken=$$?; \
	for p in $(PACKAGES); do $(MAKE) --no-print-directory alone-$$p || broken=$$?; done; exit $$broken
# Each package with those that it needs, in a root of its own, where the libraries of the others are absent.
$(ALL_PACKAGES:%=alone-%): alone-%:
	@rm -rf build/alone/$*; $(MAKE) --no-print-directory -s $(patsubst %,install-%,$(NEEDS_$*) $*) DESTDIR=$(CURDIR)/build/alone/$* PREFIX=/usr LIBDIR=/usr/lib >/dev/null
	@sh spec/tools/alone.sh $* $(MAKE) --no-print-directory PACKAGES="$(PACKAGES)" spec-installed PACKAGE=$* RUN="$(call specs_of,$*)"
# Of the system's folders, only those that Debian's Lua has.
spec-installed:
	@. $(OUT)/test/env; root=$(CURDIR)/build/alone/$(PACKAGE)/usr; export BUSTED WEIR_BIN=$$root/bin/weir; \
	export LUA_PATH="$$root/share/lua/5.4/?.lua;$$root/share/lua/5.4/?/init.lua;$(CURDIR)/?.lua;/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua"; \
	export LUA_CPATH="$$root/lib/lua/5.4/?.so;$(CURDIR)/build/test/?.so;/usr/lib/$$($(CC) -print-multiarch)/lua/5.4/?.so"; \
	$(call each,$$BUSTED -o plainTerminal,$(RUN))

# ---- packages, of what is committed ----
DIST := build/weir-$(VERSION).tar.gz
dist: ## the committed files as build/weir-VERSION.tar.gz
	@mkdir -p build
	git archive --prefix=weir-$(VERSION)/ HEAD | gzip -9n > $(DIST)
	@echo $(DIST)
deb: dist ## Debian packages of them, under build/deb (needs debhelper; lintian looks at them where it is installed)
	@sh packaging/deb.sh $(DIST) $(VERSION)

clean: ## removes build/
	rm -rf build
