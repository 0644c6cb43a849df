#include "cli/server/server_traces.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace walsizer::cli {

namespace {

bool Has(const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool HasPrefix(const std::vector<std::string>& names, const char* prefix) {
    return std::any_of(names.begin(), names.end(),
                       [prefix](const std::string& name) { return name.rfind(prefix, 0) == 0; });
}

std::vector<std::string> Column(const Rows& rows) {
    std::vector<std::string> values;
    for (int row = 0; row < rows.size(); ++row) values.push_back(rows.Text(row, 0));
    return values;
}

std::string BaseName(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

ServerTraces FindTraces(Connection& connection) {
    ServerTraces traces;
    traces.databases = Column(connection.Query("SELECT datname FROM pg_catalog.pg_database"));
    traces.settings = Column(
        connection.Query("SELECT name FROM pg_catalog.pg_settings WHERE pg_catalog.strpos(name, '.') > 0"));
    const Rows row = connection.Query(
        "SELECT s.source, s.sourcefile, s.sourceline, "
        "EXISTS (SELECT FROM pg_catalog.pg_proc WHERE proname = 'aurora_version') AS aurora, "
        "pg_catalog.current_setting('cnpg.config_sha256', true) IS NOT NULL AS cnpg, "
        "EXISTS (SELECT FROM pg_catalog.pg_stat_activity WHERE application_name LIKE 'Patroni%') AS patroni, "
        "pg_catalog.current_setting('allow_alter_system', true) AS alter_system "
        "FROM pg_catalog.pg_settings s WHERE s.name = 'max_wal_size'");
    traces.source = row.Get("source").value_or("");
    traces.file = row.Get("sourcefile").value_or("");
    traces.line = static_cast<int>(row.Integer("sourceline"));
    if (row.Flag("aurora")) traces.own_storage = "Amazon Aurora";
    if (HasPrefix(traces.settings, "neon.")) traces.own_storage = "Neon";
    if (HasPrefix(traces.settings, "alloydb.")) traces.own_storage = "AlloyDB";
    traces.cnpg = row.Flag("cnpg");
    traces.patroni_sessions = row.Flag("patroni");
    traces.alter_system_allowed = row.Get("alter_system") != "off";
    return traces;
}

Service ServiceOf(const ServerTraces& traces) {
    // A role alone proves nothing: a dump of roles brings it to any server. Databases and settings do not
    // travel.
    if (Has(traces.databases, "rdsadmin") || HasPrefix(traces.settings, "rds.")) return Service::kRds;
    if (Has(traces.databases, "cloudsqladmin") || HasPrefix(traces.settings, "cloudsql."))
        return Service::kCloudSql;
    if (Has(traces.databases, "azure_maintenance") || HasPrefix(traces.settings, "azure."))
        return Service::kAzure;
    return Service::kSelfManaged;
}

const char* Name(Service service) {
    static constexpr const char* kNames[] = {"self-managed", "Amazon RDS", "Google Cloud SQL",
                                             "Azure Database for PostgreSQL"};
    return kNames[static_cast<std::size_t>(service)];
}

std::vector<Place> PlacesOf(const ServerTraces& traces) {
    switch (ServiceOf(traces)) {
        case Service::kRds:
            return {Place::kRds};
        case Service::kCloudSql:
            return {Place::kCloudSql};
        case Service::kAzure:
            return {Place::kAzure};
        case Service::kSelfManaged:
            break;
    }
    if (traces.source == "command line") return {Place::kCommandLine};
    if (traces.cnpg) return {Place::kCnpg};
    if (traces.patroni_sessions) return {Place::kPatroni};
    // Nothing proves that neither Patroni nor an operator stands behind a plain file: the likeliest comes
    // first.
    std::vector<Place> places = {Place::kConf, Place::kPatroni, Place::kCnpg};
    if (traces.alter_system_allowed) {
        const bool by_sql = BaseName(traces.file) == "postgresql.auto.conf";
        places.insert(by_sql ? places.begin() : places.begin() + 1, Place::kSql);
    }
    return places;
}

std::string SourceInWords(const ServerTraces& traces) {
    if (traces.source == "default" || traces.source.empty()) return "PostgreSQL's default";
    if (traces.source == "command line") return "the server's command line";
    if (traces.file.empty()) return traces.source;
    return fmt::format("{} line {}", BaseName(traces.file), traces.line);
}

}  // namespace walsizer::cli
