# walsizer: engine (pure C++20), extension (PGXS), program. `make`, `make install`, `make unit`, `make cli-unit`, `make simulate`.
EXTENSION = walsizer
MODULE_big = walsizer
DATA = $(wildcard sql/walsizer--*.sql)
OBJS = $(patsubst %.cpp,%.o,$(sort $(wildcard src/engine/*.cpp) $(wildcard src/extension/*.cpp)))

# pg_regress: test/sql/*.sql against the top-level expected/; needs a server that preloads walsizer.
# install comes first: it creates the extension for the others.
REGRESS = install $(filter-out install,$(sort $(basename $(notdir $(wildcard test/sql/*.sql)))))
REGRESS_OPTS = --inputdir=test --temp-config=test/walsizer.conf

# The version stands in walsizer.control alone.
WALSIZER_VERSION = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" walsizer.control)

WARNINGS = -Wall -Wextra $(if $(WERROR),-Werror)
STANDARD = -std=c++20

PG_CPPFLAGS = -Iinclude -DWALSIZER_VERSION='"$(WALSIZER_VERSION)"'
# Server headers up to 15 use `register`. No exception may cross into the server: none can be written here.
PG_CXXFLAGS = $(STANDARD) $(WARNINGS) -Wno-register -fno-rtti -fno-exceptions
# clang gets flags from PGXS that only gcc knows.
PG_CXXFLAGS += $(if $(findstring clang,$(CXX)),-Wno-unknown-warning-option -Wno-ignored-optimization-argument)
# What a distribution wants (hardening, paths that are the same everywhere); PGXS takes it for C alone.
PG_CXXFLAGS += $(COPT)
# The C++ runtime goes into the library: an upgrade of the operating system must not stop a server from starting.
# Its symbols stay inside, so that other C++ extensions keep their own.
SHLIB_LINK = -static-libgcc -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -Wl,--exclude-libs,ALL

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
# Header dependencies are tracked; bitcode for inlining into queries is of no use to a background worker.
override autodepend = yes
override with_llvm = no
include $(PGXS)

src/extension/module.o: walsizer.control

# Compiles, and no more, what a server built with --enable-cassert would make of the extension: the Assert()s in
# the headers' macros and inline functions, which other servers' headers leave out. (-DUSE_ASSERT_CHECKING does not
# make the server itself check anything.)
ASSERTIONS = $(patsubst src/extension/%.cpp,assertions-%,$(wildcard src/extension/*.cpp))
assertions: $(ASSERTIONS)
$(ASSERTIONS): assertions-%: src/extension/%.cpp
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -DUSE_ASSERT_CHECKING -fsyntax-only $<
.PHONY: assertions $(ASSERTIONS)

# The engine's tests: no server header is on the include path, which proves that the engine is pure.
UNIT_FLAGS = $(STANDARD) -Wall -Wextra -Werror -g1 -Iinclude -Isrc
# The engine is optimised as far as sanitizers like it; the tests themselves are compiled once for every run.
build/unit/src/%.o: UNIT_FLAGS += -O1
UNIT_SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_SOURCES = $(sort $(wildcard src/engine/*.cpp) $(wildcard src/simulator/*.cpp) $(wildcard test/unit/*.cpp))
UNIT_OBJECTS = $(patsubst %.cpp,build/unit/%.o,$(UNIT_SOURCES))

build/unit/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(UNIT_FLAGS) $(UNIT_SANITIZERS) -MMD -MP -c $< -o $@

build/unit/walsizer_unit: $(UNIT_OBJECTS)
	$(CXX) $(UNIT_SANITIZERS) $^ -lgtest -lgtest_main -lpthread -o $@

unit: build/unit/walsizer_unit
	build/unit/walsizer_unit $(UNIT_OPTS)

-include $(UNIT_OBJECTS:.o=.d)

include src/cli/program.mk
include src/simulator/simulate.mk

clean: clean-unit
clean-unit:
	rm -rf build

# The archive for PGXN
dist:
	scripts/dist.sh zip

.PHONY: unit clean-unit dist
