#include <map>
#include <string>

#include "cli/command.hpp"

namespace walsizer::cli {

void AddOutputOptions(CLI::App& command, OutputOptions& output) {
    static const std::map<std::string, OutputFormat> kFormats = {
        {"text", OutputFormat::kText}, {"json", OutputFormat::kJson}, {"csv", OutputFormat::kCsv}};
    static const std::map<std::string, ColourMode> kColours = {
        {"auto", ColourMode::kAuto}, {"always", ColourMode::kAlways}, {"never", ColourMode::kNever}};
    command.add_option("--format", output.format, "text, json or csv (text)")
        ->transform(CLI::CheckedTransformer(kFormats).description(""))
        ->type_name("FORMAT");
    command.add_option("--color", output.colour, "auto, always or never (auto: at a terminal only)")
        ->transform(CLI::CheckedTransformer(kColours).description(""))
        ->type_name("WHEN");
}

}  // namespace walsizer::cli
