// The recommended max_wal_size as the line that the place of configuration wants.
#pragma once

#include "walsizer/sizing.hpp"
#include "walsizer/text.hpp"

namespace walsizer {

// `format`: sql, conf, patroni, cnpg or rds. False for any other. The text has the line to use and, where the
// format knows comments, the basis of the figure.
bool Recommend(const char* format, Bytes size, const Need& need, const ServerSettings& server,
               Text<1024>& text) noexcept;

inline constexpr const char* kRecommendFormats = "sql, conf, patroni, cnpg, rds";

}  // namespace walsizer
