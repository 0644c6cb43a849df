# The program `walsizer`: an ordinary C++ program beside the extension. PGXS builds a module or a program, not
# both, so its rules are here. Its objects are its own, because it is compiled with exceptions.

# HEADER:PACKAGE of each library that is missing. One run of the preprocessor tells; without libraries the
# extension alone is built and installed.
PROGRAM_HEADERS = libpq-fe.h:libpq-dev CLI/CLI.hpp:libcli11-dev fmt/format.h:libfmt-dev \
	nlohmann/json.hpp:nlohmann-json3-dev re2/re2.h:libre2-dev zlib.h:zlib1g-dev zstd.h:libzstd-dev
PROGRAM_INCLUDES = -isystem $(includedir)
# Make 4.3 passes "\#" on to the shell as it stands, older ones take a bare one for a comment.
hash := \#
PROGRAM_MISSING := $(shell for pair in $(PROGRAM_HEADERS); do \
	printf '\043if !__has_include(<%s>)\n%s\n\043endif\n' "$${pair%:*}" "$${pair$(hash)*:}"; done | \
	$(CXX) -E -P $(STANDARD) $(PROGRAM_INCLUDES) -x c++ -)

PROGRAM_SOURCES = $(sort $(wildcard src/engine/*.cpp src/cli/*.cpp src/cli/*/*.cpp))
PROGRAM_OBJECTS = $(patsubst %.cpp,build/program/%.o,$(PROGRAM_SOURCES))
PROGRAM_FLAGS = -Iinclude -Isrc -Ibuild $(PROGRAM_INCLUDES) -DWALSIZER_VERSION='"$(WALSIZER_VERSION)"'
PROGRAM_LIBS = -L$(libdir) $(if $(filter yes,$(enable_rpath)),-Wl$(comma)-rpath$(comma)'$(libdir)') \
	-lpq -lfmt -lre2 -lz -lzstd -lpthread
comma := ,

build/program/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(filter-out -fno-rtti -fno-exceptions -Wno-register,$(CXXFLAGS)) $(PROGRAM_FLAGS) -MMD -MP -c $< -o $@

build/program/src/cli/main.o: walsizer.control

# The report's page is a file of its own; in the program it is a string literal.
build/report_template.inc: src/cli/report/report.html
	@mkdir -p $(@D)
	{ printf 'R"walsizer_page('; cat $<; printf ')walsizer_page"\n'; } > $@
build/program/src/cli/report/report_page.o build/checked/src/cli/report/report_page.o: build/report_template.inc

build/walsizer: $(PROGRAM_OBJECTS)
	$(CXX) $(filter-out -fno-rtti -fno-exceptions,$(CXXFLAGS)) $^ $(LDFLAGS) $(PROGRAM_LIBS) -o $@

# Tests: the same sources with sanitizers, as a program and below GoogleTest.
CHECKED_OBJECTS = $(patsubst %.cpp,build/checked/%.o,$(PROGRAM_SOURCES))
CLI_TESTS = $(patsubst %.cpp,build/checked/%.o,$(sort $(wildcard test/cli/*.cpp)))
CHECKED_FLAGS = $(STANDARD) -O1 -g1 -Wall -Wextra -Werror $(PROGRAM_FLAGS)

build/checked/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CHECKED_FLAGS) $(UNIT_SANITIZERS) -MMD -MP -c $< -o $@

build/checked/src/cli/main.o: walsizer.control

build/checked/walsizer: $(CHECKED_OBJECTS)
	$(CXX) $(UNIT_SANITIZERS) $^ $(PROGRAM_LIBS) -o $@

build/checked/cli_unit: $(filter-out %/src/cli/main.o,$(CHECKED_OBJECTS)) $(CLI_TESTS)
	$(CXX) $(UNIT_SANITIZERS) $^ -lgtest -lgtest_main $(PROGRAM_LIBS) -o $@

cli-checked: build/checked/walsizer build/checked/cli_unit

cli-unit: cli-checked
	build/checked/cli_unit $(UNIT_OPTS)

-include $(PROGRAM_OBJECTS:.o=.d) $(CHECKED_OBJECTS:.o=.d) $(CLI_TESTS:.o=.d)

# The log parser under libFuzzer, for FUZZ_SECONDS; needs clang. The corpus stays in build/fuzz.
FUZZ_SECONDS ?= 600
FUZZ_CXX ?= clang++
# What is under test is how logs are read: only that is instrumented for coverage, or libFuzzer would spend most
# of its time on the branches of what prints the answer.
FUZZ_FLAGS = $(STANDARD) -O1 -g1 -Wall -Wextra -Werror $(PROGRAM_FLAGS) -fsanitize=address,undefined \
	-fno-sanitize-recover=all
FUZZ_OBJECTS = $(patsubst %.cpp,build/fuzz/%.o,test/fuzz/log_parser.cpp \
	$(filter-out %/main.cpp %_command.cpp %/output_options.cpp %/advice_source.cpp, \
	  $(wildcard src/engine/*.cpp src/cli/*.cpp src/cli/log/*.cpp)))
build/fuzz/src/cli/log/%.o: FUZZ_FLAGS += -fsanitize=fuzzer-no-link

build/fuzz/%.o: %.cpp
	@mkdir -p $(@D)
	$(FUZZ_CXX) $(FUZZ_FLAGS) -MMD -MP -c $< -o $@

-include $(FUZZ_OBJECTS:.o=.d)

build/fuzz/log_parser: $(FUZZ_OBJECTS)
	$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined $^ -lfmt -lre2 -lz -lzstd -lpthread -o $@

# Freed memory is kept from reuse for 16 MB and allocations remember two frames: the defaults (256 MB, 30) cost
# more than the parser. A finding is run again with them.
fuzz: build/fuzz/log_parser
	mkdir -p build/fuzz/corpus
	ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=2 build/fuzz/log_parser -dict=test/fuzz/log.dict \
	  -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -entropic=0 -artifact_prefix=build/fuzz/ \
	  -print_final_stats=1 build/fuzz/corpus test/cases

PROGRAM_MAN = $(wildcard docs/walsizer.1)
PROGRAM_COMPLETION = $(wildcard src/cli/walsizer.bash)
completiondir ?= $(datarootdir)/bash-completion/completions

# WITH_PROGRAM=no: the extension alone, for packages that have one for each server and one program for all.
ifeq ($(WITH_PROGRAM),no)
else ifeq ($(strip $(PROGRAM_MISSING)),)
all: build/walsizer
install: install-program
else
all install: program-missing
endif

program-missing:
	@echo 'The program "walsizer" is not built. It needs: $(strip $(PROGRAM_MISSING))'

install-program: build/walsizer
	$(MKDIR_P) '$(DESTDIR)$(bindir)'
	$(INSTALL_PROGRAM) build/walsizer '$(DESTDIR)$(bindir)/walsizer'
ifneq ($(PROGRAM_MAN),)
	$(MKDIR_P) '$(DESTDIR)$(mandir)/man1'
	$(INSTALL_DATA) $(PROGRAM_MAN) '$(DESTDIR)$(mandir)/man1/'
endif
ifneq ($(PROGRAM_COMPLETION),)
	$(MKDIR_P) '$(DESTDIR)$(completiondir)'
	$(INSTALL_DATA) $(PROGRAM_COMPLETION) '$(DESTDIR)$(completiondir)/walsizer'
endif

uninstall: uninstall-program
uninstall-program:
	rm -f '$(DESTDIR)$(bindir)/walsizer' '$(DESTDIR)$(mandir)/man1/walsizer.1' \
	  '$(DESTDIR)$(completiondir)/walsizer'

.PHONY: fuzz cli-checked cli-unit program-missing install-program uninstall-program
