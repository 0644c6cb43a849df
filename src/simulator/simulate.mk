# The policy comparison (docs/simulator.md): bench/traces through the simulator, included by the Makefile.
SIMULATE_SOURCES = $(sort $(wildcard src/engine/*.cpp) $(wildcard src/simulator/*.cpp)) bench/simulate.cpp
SIMULATE_OBJECTS = $(patsubst %.cpp,build/simulate_objects/%.o,$(SIMULATE_SOURCES))

build/simulate_objects/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(STANDARD) $(WARNINGS) -O2 -Iinclude -Isrc -MMD -MP -c $< -o $@

build/simulate: $(SIMULATE_OBJECTS)
	$(CXX) $^ -lpthread -o $@

simulate: build/simulate
	build/simulate compare $(SIMULATE_OPTS) bench/traces

-include $(SIMULATE_OBJECTS:.o=.d)

.PHONY: simulate
