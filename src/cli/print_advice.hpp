// Prints an Advice in the three formats.
#pragma once

#include <string>

#include "cli/advice.hpp"
#include "cli/output.hpp"

namespace walsizer::cli {

std::string AdviceAsText(const Advice& advice, const Style& style);
std::string AdviceAsJson(const Advice& advice);
std::string AdviceAsCsv(const Advice& advice);

// To standard output, as the options say.
void PrintAdvice(const Advice& advice, const OutputOptions& options);

// The figure's source in words: "measured", "projected", ...
const char* Name(NeedBasis basis);

}  // namespace walsizer::cli
