#include "walsizer/recommendation.hpp"

#include <cstring>

namespace walsizer {

namespace {

void Basis(const Need& need, const ServerSettings& server, Text<256>& text) noexcept {
    if (!need.sound && need.basis == NeedBasis::kProjected) {
        text.Set("the present value: too little was watched to recommend another");
        return;
    }
    const char* how = need.basis == NeedBasis::kMeasured     ? "measured"
                      : need.basis == NeedBasis::kUpperBound ? "at most: measured under frequent checkpoints"
                                                             : "projected";
    text.Set("%s of WAL in one checkpoint_timeout of %s (%s) needs %s",
             SizeText(static_cast<Bytes>(need.bytes)).c_str(),
             DurationText(server.checkpoint_timeout).c_str(), how, SizeText(need.size).c_str());
}

}  // namespace

bool Recommend(const char* format, Bytes size, const Need& need, const ServerSettings& server,
               Text<1024>& text) noexcept {
    const long long megabytes = size / kMiB;
    Text<256> basis;
    Basis(need, server, basis);
    const auto is = [format](const char* name) { return std::strcmp(format, name) == 0; };
    if (is("sql"))
        text.Set("ALTER SYSTEM SET max_wal_size = '%lldMB'; -- %s\nSELECT pg_reload_conf();", megabytes,
                 basis.c_str());
    else if (is("conf"))
        text.Set("# %s\nmax_wal_size = %lldMB", basis.c_str(), megabytes);
    else if (is("patroni"))
        text.Set("# patronictl edit-config: %s\npostgresql:\n  parameters:\n    max_wal_size: %lldMB",
                 basis.c_str(), megabytes);
    else if (is("cnpg"))
        text.Set(
            "# Cluster resource: %s\nspec:\n  postgresql:\n    parameters:\n      max_wal_size: \"%lldMB\"",
            basis.c_str(), megabytes);
    else if (is("rds"))  // the parameter group takes megabytes, without a unit
        text.Set("# DB parameter group, in MB: %s\nmax_wal_size=%lld", basis.c_str(), megabytes);
    else
        return false;
    return true;
}

}  // namespace walsizer
