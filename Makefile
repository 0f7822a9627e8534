# SPDX-License-Identifier: GPL-3.0-or-later
#
# jbdlab: plain GNU make, products in build/.
#
#   V=1                        print commands whole
#   SAN=address,undefined      build with sanitizers, in a tree of its own
#   B=DIR                      another directory for products
#   HARDEN=no                  without the flags that make faults harder to exploit
#   CC CFLAGS CPPFLAGS LDFLAGS as usual; warnings come first, so CFLAGS can undo them
#   DESTDIR PREFIX             for install and uninstall (default /usr/local)
#   WRAP="valgrind ..."        runs each unit test through a program

PROG    := jbdlab
PREFIX  ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
MANDIR  ?= $(PREFIX)/share/man
DOCDIR  ?= $(PREFIX)/share/doc/jbdlab
# Where the program looks, seen from SBINDIR: ../share/jbdlab/commands.
CMDDIR  ?= $(PREFIX)/share/jbdlab/commands
VMDIR   ?= $(PREFIX)/share/jbdlab/vm
SCHEMADIR ?= $(PREFIX)/share/jbdlab/schemas
SCHEMA  := jbdlab-report-1.schema.json
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
SAN     ?=
HARDEN  ?= yes
comma   := ,
B       ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PKGS    := ext2fs e2p com_err blkid mount uuid smartcols jansson inih gsl fuse3 liburing

VERSION := $(shell scripts/version)

CFLAGS  ?= -O2 -g
WARN    := -std=gnu11 -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes \
           -Wshadow -Wvla -Wundef -Wimplicit-fallthrough
# Of these flags those that the compiler has.
can      = $(foreach f,$1,$(shell $(CC) -Werror $f -x c -c /dev/null -o /dev/null 2>&1 && echo $f))
# Sanitizers replace what these flags protect; fortification needs an optimiser.
ifeq ($(SAN)$(HARDEN),yes)
HARD    := $(call can,-fPIE -fstack-protector-strong -fstack-clash-protection -fcf-protection)
FORTIFY  = $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARD_LD := -pie -Wl,-z,relro -Wl,-z,now
endif
# The same bytes wherever the tree lies.
PREFIX_MAP  := $(call can,-ffile-prefix-map=$(CURDIR)=.)
ALL_CFLAGS   = $(WARN) $(HARD) $(PREFIX_MAP) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN) \
               -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CPPFLAGS = -Isrc -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(PKG_CFLAGS) $(FORTIFY) $(CPPFLAGS)
ALL_LDFLAGS  = $(HARD_LD) $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
PKG_CFLAGS  := $(shell pkg-config --cflags $(PKGS))
LDLIBS      := $(shell pkg-config --libs $(PKGS)) -lpthread -lm

SRC     := $(sort $(wildcard src/*/*.c))
OBJ     := $(SRC:%.c=$B/%.o)
LIBOBJ  := $(filter-out $B/src/cli/%,$(OBJ))
UNIT    := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c))

ifneq ($V,1)
Q := @
say = @printf '  %-5s %s\n' $1 $2
endif


.PHONY: all help tests unit check check-root crash crash-tools powercut simulate bench ledger \
        fuzz fuzz-short resume-kills truth models \
        demo deb analyse coverage install uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

PAGES   := $(patsubst src/man/%,$B/man/%,$(wildcard src/man/*.[578]))

all: $B/$(PROG) $B/$(SCHEMA) $B/completion/bash $B/completion/zsh $(PAGES)

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed -n '3,/WRAP/p'
	@echo "Targets: all tests unit check check-root demo install uninstall clean"
	@echo "         deb analyse coverage crash powercut resume-kills simulate bench truth models ledger fuzz fuzz-short"

# Rewritten only when its content changes, so that new flags rebuild everything.
$B/flags: FORCE
	@mkdir -p $B
	@printf '%s\n' '$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDLIBS)' >$@.new; \
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# Only main.c knows the version: a commit does not rebuild the rest.
$B/version: FORCE
	@mkdir -p $B
	@echo '$(VERSION)' >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$B/src/cli/main.o: $B/version
$B/src/cli/main.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

$B/%.o: %.c $B/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$B/$(PROG).a: $(LIBOBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $^

$B/$(PROG): $(filter $B/src/cli/%,$(OBJ)) $B/$(PROG).a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# With the version at the foot of each page.
$B/man/%: src/man/% $B/version
	@mkdir -p $(@D)
	$(Q)sed '/^\.TH /s/ jbdlab / "jbdlab $(VERSION)" /' $< >$@

# Made by the program from its description of the tables: it cannot be out of date.
$B/$(SCHEMA): $B/$(PROG)
	$(call say,GEN,$@)
	$(Q)$< report --schema >$@

$B/completion/%: $B/$(PROG) $(wildcard configs/commands/*.ini)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)JBDLAB_COMMANDS=configs/commands $< completion $* >$@

$B/tests/test_%: $B/tests/unit/test_%.o $B/$(PROG).a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

-include $(OBJ:.o=.d) $(UNIT:$B/tests/%=$B/tests/unit/%.d)

tests: $(UNIT)

unit: tests
	@r=0; for t in $(filter-out $(WITHOUT:%=$B/tests/test_%),$(UNIT)); do echo "== $$t"; $(WRAP) $$t || r=1; done; exit $$r

# Tests that need no root.
check: all unit $B/tests/simulate/simulate
	@scripts/check-layers
	@$B/tests/simulate/simulate 500
	@$(MAKE) fuzz-short
	@JBDLAB=$(abspath $B/$(PROG)) bats tests/image

# Tests on loop devices and mounts.
check-root: all
	@JBDLAB=$(abspath $B/$(PROG)) bats tests/loop

# The experiment on simulated disks: false claims, coverage, Stein's width.
simulate: $B/tests/simulate/simulate
	@$< $(REPETITIONS)

$B/tests/simulate/simulate: $B/tests/simulate/simulate.o $B/$(PROG).a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Readers of foreign texts on their kept corpus and on random changes of it, a second each.
fuzz-short: $B/tests/fuzz/replay
	@B=$B tests/fuzz/run --short $(FUZZERS)

# The same with libFuzzer (clang): FUZZ_SECONDS=600 for each, FUZZERS="tiobench json".
fuzz:
	@$(MAKE) CC=clang B=build-fuzz CFLAGS='-O1 -g' SAN=address,undefined,fuzzer-no-link \
		build-fuzz/tests/fuzz/fuzz
	@B=build-fuzz SECONDS_EACH=$(or $(FUZZ_SECONDS),600) tests/fuzz/run $(FUZZERS)

$B/tests/fuzz/replay: $B/tests/fuzz/replay.o $B/tests/fuzz/target.o $B/tests/fuzz/own.o \
		$B/$(PROG).a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$B/tests/fuzz/fuzz: $B/tests/fuzz/target.o $B/tests/fuzz/own.o $B/$(PROG).a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# Every claim of speed beside its peer or limit, in one table: PARTS="engine growth",
# SHORT=1 shows only that the parts work.  Wants a machine that does nothing else.
bench: all $B/tests/bench/bench_engine $B/tests/bench/bench_ledger
	@JBDLAB=$(abspath $B/$(PROG)) tests/bench/table $(abspath $B) $(if $(SHORT),--short) $(PARTS)

# The flush ledger beside an independent trace, for every placement and mode; root.
ledger: all
	@JBDLAB=$(abspath $B/$(PROG)) tests/ledger/run $(if $(COUNT),--count $(COUNT))

# Our engine beside fio, fs_mark and the disk model; root.
bench-peers: all
	@JBDLAB=$(abspath $B/$(PROG)) tests/bench/peers

$B/tests/bench/bench_%: $B/tests/bench/bench_%.o $B/$(PROG).a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# A power cut at any write of a move loses nothing: every state; PEER=1: tune2fs instead.
CRASH_MAINS := $(patsubst %,$B/tests/crash/%,replay inject selftest withdisks)
CRASH_OBJ   := $(patsubst %.c,$B/%.o,$(filter-out %/recorder.c,$(wildcard tests/crash/*.c)))

crash: all crash-tools
	@B=$B tests/crash/run --full $(if $(PEER),--peer)
	@B=$B tests/crash/faults $(if $(PEER),--peer)

crash-tools: $(CRASH_MAINS) $B/tests/crash/recorder.so

$(CRASH_MAINS): %: %.o $(filter-out $(CRASH_MAINS:=.o),$(CRASH_OBJ))
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lpthread

$B/tests/crash/recorder.so: tests/crash/recorder.c $B/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -shared -o $@ $<

-include $(CRASH_OBJ:.o=.d)

# The same on a real kernel, in a virtual machine that is killed: CUTS=20 SEED=N PEER=1.
# Without CUTS, one cut of each arm and the states that the log of a disk holds follow.
POWERCUT = tests/powercut/run --jbdlab $B/$(PROG) --out $B/powercut \
           $(if $(SEED),--seed $(SEED)) $(if $(PEER),--peer)
powercut: all
	@$(POWERCUT) $(if $(CUTS),--cuts $(CUTS))
	@$(if $(CUTS)$(PEER),:,$(POWERCUT) --arms)
	@$(if $(CUTS),:,[ "$$(id -u)" != 0 ] || $(POWERCUT) --logwrites)

# What is claimed to the percent, on a machine that does nothing else.
truth: all
	@SLACK=0 JBDLAB=$(abspath $B/$(PROG)) bats tests/loop/220-workload-truth.bats \
		tests/loop/230-agrees-with-fio.bats tests/loop/420-model-truth.bats

# An experiment on modelled disks finds what the models charge, and nothing where nothing
# is: fifteen minutes, root, a machine that does nothing else.
models: all
	@JBDLAB=$(abspath $B/$(PROG)) tests/models/run $(if $(SEEDS),--seeds $(SEEDS))

# An experiment is killed at any moment, and resumed or restored: KILLS=30 SEED=N; root.
resume-kills: all
	@JBDLAB=$(abspath $B/$(PROG)) $(if $(KILLS),KILLS=$(KILLS)) $(if $(SEED),SEED=$(SEED)) \
		tests/kills/run

demo: all
	@JBDLAB=$(abspath $B/$(PROG)) scripts/run-demo $(DEMO)

install: all
	install -D -m 755 $B/$(PROG) $(DESTDIR)$(SBINDIR)/$(PROG)
	for p in $(PAGES); do \
		install -D -m 644 $$p $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/} || exit 1; done
	install -D -m 644 README.md $(DESTDIR)$(DOCDIR)/README.md
	for c in configs/*.ini configs/suites/*.ini; do \
		install -D -m 644 $$c $(DESTDIR)$(DOCDIR)/$$c || exit 1; done
	for c in configs/commands/*; do \
		[ -x $$c ] && mode=755 || mode=644; \
		install -D -m $$mode $$c $(DESTDIR)$(CMDDIR)/$${c##*/} || exit 1; done
	for f in scripts/vm/*; do \
		[ -x $$f ] && mode=755 || mode=644; \
		install -D -m $$mode $$f $(DESTDIR)$(VMDIR)/$${f##*/} || exit 1; done
	install -D -m 644 $B/$(SCHEMA) $(DESTDIR)$(SCHEMADIR)/$(SCHEMA)
	install -D -m 644 $B/completion/bash $(DESTDIR)$(BASHDIR)/$(PROG)
	install -D -m 644 $B/completion/zsh $(DESTDIR)$(ZSHDIR)/_$(PROG)

uninstall:
	rm -f $(DESTDIR)$(SBINDIR)/$(PROG)
	for p in src/man/*.[578]; do rm -f $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
	rm -rf $(DESTDIR)$(DOCDIR)
	for c in configs/commands/*; do rm -f $(DESTDIR)$(CMDDIR)/$${c##*/}; done
	rm -f $(DESTDIR)$(SCHEMADIR)/$(SCHEMA)
	rm -f $(DESTDIR)$(BASHDIR)/$(PROG) $(DESTDIR)$(ZSHDIR)/_$(PROG)
	for f in scripts/vm/*; do rm -f $(DESTDIR)$(VMDIR)/$${f##*/}; done
	-[ ! -d $(DESTDIR)$(VMDIR) ] || rmdir $(DESTDIR)$(VMDIR)
	-[ ! -d $(DESTDIR)$(SCHEMADIR) ] || rmdir $(DESTDIR)$(SCHEMADIR)
	-[ ! -d $(DESTDIR)$(CMDDIR) ] || rmdir $(DESTDIR)$(CMDDIR) $(DESTDIR)$(dir $(CMDDIR))

# A Debian package, source and binary, in $B/deb; lintian looks at it.
deb:
	@scripts/package/deb $B/deb '$(VERSION)'

# gcc -fanalyzer, clang-tidy, cppcheck and shellcheck; TOOLS="gcc cppcheck".
analyse:
	@scripts/analyse $(TOOLS)

# Which lines of src/ the tests run, by room; PARTS="unit tests/loop/100-move.bats".
coverage:
	@scripts/coverage $(PARTS)

clean:
	rm -rf $B build-*
