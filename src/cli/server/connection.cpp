#include "cli/server/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <termios.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cli/server/interrupt.hpp"

namespace walsizer::cli {

namespace {

// A host that does not answer at all; connect_timeout or PGCONNECT_TIMEOUT say otherwise.
constexpr const char* kConnectTimeout = "10";
// Every statement of ours reads shared memory; a server that takes longer is taken to be gone.
constexpr Micros kAnswerTimeout = 15 * kSecond;

std::string Trimmed(const char* message) {
    std::string text = message == nullptr ? "" : message;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

std::string Field(const pg_result* result, int field) {
    const char* text = PQresultErrorField(result, field);
    return text == nullptr ? "" : text;
}

bool IsConnectionString(const std::string& text) {
    return text.find('=') != std::string::npos || text.rfind("postgres://", 0) == 0 ||
           text.rfind("postgresql://", 0) == 0;
}

// Whether a connection string gives this keyword.
bool Gives(const std::string& text, const char* keyword) {
    if (!IsConnectionString(text)) return false;
    PQconninfoOption* options = PQconninfoParse(text.c_str(), nullptr);
    if (options == nullptr) return false;  // libpq itself tells what is wrong, when it connects
    bool gives = false;
    for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option)
        gives = gives || (std::strcmp(option->keyword, keyword) == 0 && option->val != nullptr);
    PQconninfoFree(options);
    return gives;
}

bool NamesDatabase(const ConnectionOptions& options) {
    const auto elsewhere = [](const char* variable) { return std::getenv(variable) != nullptr; };
    if (!options.dbname.empty() || elsewhere("PGDATABASE") || elsewhere("PGSERVICE")) return true;
    if (options.target.empty()) return false;
    return !IsConnectionString(options.target) || Gives(options.target, "dbname") ||
           Gives(options.target, "service");
}

// From the terminal, without echo. Throws when there is none.
std::string AskPassword() {
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0)
        throw std::runtime_error(
            "a password is needed, and there is no terminal to ask for it: use "
            "~/.pgpass or PGPASSFILE");
    termios before = {};
    tcgetattr(terminal, &before);
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(terminal, TCSAFLUSH, &silent);
    std::string password;
    const auto say = [terminal](const char* text) { return write(terminal, text, std::strlen(text)) > 0; };
    say("Password: ");
    char c = 0;
    while (read(terminal, &c, 1) == 1 && c != '\n') password += c;
    tcsetattr(terminal, TCSAFLUSH, &before);
    say("\n");
    close(terminal);
    return password;
}

}  // namespace

void AddConnectionOptions(CLI::App& command, ConnectionOptions& options) {
    command.add_option("CONNECTION", options.target, "Database name, URI or conninfo string, as in psql");
    command.add_option("-h,--host", options.host, "Server, or directory of its socket (PGHOST)")
        ->type_name("HOST");
    command.add_option("-p,--port", options.port, "Port (PGPORT)")->type_name("PORT");
    command.add_option("-U,--username", options.user, "User (PGUSER)")->type_name("NAME");
    command.add_option("-d,--dbname", options.dbname, "Database (PGDATABASE)")->type_name("DBNAME");
    command.add_flag("-w,--no-password", options.never_prompt, "Never ask for a password");
    command.add_flag("-W,--password", options.prompt, "Ask for a password before connecting");
}

Rows::Rows(pg_result* result) : result_(result, PQclear) {}
int Rows::size() const {
    return PQntuples(result_.get());
}
int Rows::Column(const char* name) const {
    return PQfnumber(result_.get(), name);
}
bool Rows::IsNull(int row, int column) const {
    return PQgetisnull(result_.get(), row, column) == 1;
}
std::string Rows::Text(int row, int column) const {
    return PQgetvalue(result_.get(), row, column);
}
std::optional<std::string> Rows::Get(const char* name, int row) const {
    const int column = Column(name);
    if (column < 0 || row >= size() || IsNull(row, column)) return std::nullopt;
    return Text(row, column);
}
std::int64_t Rows::Integer(const char* name, int row, std::int64_t otherwise) const {
    const auto text = Get(name, row);
    return text ? std::strtoll(text->c_str(), nullptr, 10) : otherwise;
}
double Rows::Number(const char* name, int row, double otherwise) const {
    const auto text = Get(name, row);
    return text ? std::strtod(text->c_str(), nullptr) : otherwise;
}
bool Rows::Flag(const char* name, int row) const {
    return Get(name, row) == "t";
}

void Connection::Close::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

Connection::Handle Connection::Attempt() const {
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : parameters_) {
        keywords.push_back(keyword.c_str());
        values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    // The first dbname may be a whole connection string.
    return Handle(PQconnectdbParams(keywords.data(), values.data(), 1));
}

void Connection::Take(Handle handle) {
    if (handle == nullptr) throw std::bad_alloc();
    if (PQstatus(handle.get()) != CONNECTION_OK) throw ConnectionLost(Trimmed(PQerrorMessage(handle.get())));
    // What the server says aside (a collation of another version) is nothing for our output.
    PQsetNoticeProcessor(
        handle.get(), [](void*, const char*) {}, nullptr);
    handle_ = std::move(handle);
}

Connection Connection::Open(const ConnectionOptions& options) {
    Parameters parameters;
    const auto give = [&parameters](const char* keyword, const std::string& value) {
        if (!value.empty()) parameters.emplace_back(keyword, value);
    };
    // Later ones win, so that an option overrides what the connection string says.
    give("dbname", options.target);
    give("dbname", options.dbname);
    give("host", options.host);
    give("port", options.port);
    give("user", options.user);
    give("fallback_application_name", "walsizer");
    if (!Gives(options.target, "connect_timeout") && std::getenv("PGCONNECT_TIMEOUT") == nullptr)
        give("connect_timeout", kConnectTimeout);
    if (options.prompt) give("password", AskPassword());

    Connection connection(parameters);
    Handle handle = connection.Attempt();
    const auto failed = [](const Handle& tried) { return PQstatus(tried.get()) != CONNECTION_OK; };
    if (failed(handle) && PQconnectionNeedsPassword(handle.get()) && !options.never_prompt &&
        !options.prompt) {
        connection.parameters_.emplace_back("password", AskPassword());
        handle = connection.Attempt();
    }
    if (failed(handle) && !NamesDatabase(options)) {
        // What walsizer reads is the same in every database: one named like the user need not exist.
        Connection elsewhere(connection.parameters_);
        elsewhere.parameters_.emplace_back("dbname", "postgres");
        Handle second = elsewhere.Attempt();
        if (!failed(second)) {
            connection.parameters_ = elsewhere.parameters_;
            handle = std::move(second);
        }
    }
    connection.Take(std::move(handle));
    if (connection.version() < 130000)
        throw std::runtime_error(fmt::format("{} is PostgreSQL {}; walsizer knows 13 and later",
                                             connection.Where(), connection.version() / 10000));
    return connection;
}

void Connection::Reconnect() {
    handle_.reset();
    const SignalsThrough through;  // libpq waits by itself here, for connect_timeout at most
    Take(Attempt());
}

Rows Connection::Query(const std::string& statement) {
    const auto lost = [this]() {
        const std::string why = Trimmed(PQerrorMessage(handle_.get()));
        return ConnectionLost(why.empty() ? "the connection was lost" : why);
    };
    if (handle_ == nullptr) throw ConnectionLost("not connected");
    if (PQsendQuery(handle_.get(), statement.c_str()) == 0) throw lost();
    const Micros until = MonotonicNow() + kAnswerTimeout;
    while (PQisBusy(handle_.get()) == 1) {
        const Micros left = until - MonotonicNow();
        if (left <= 0) throw ConnectionLost("the server did not answer for 15 s");
        if (WaitFor(left, PQsocket(handle_.get())) == Wake::kSignal && Interrupted())
            throw ConnectionLost("interrupted");
        if (PQconsumeInput(handle_.get()) == 0) throw lost();
    }
    pg_result* result = PQgetResult(handle_.get());
    if (result == nullptr) throw lost();
    Rows rows(result);
    const ExecStatusType status = PQresultStatus(result);
    const std::string state = Field(result, PG_DIAG_SQLSTATE);
    std::string message = Field(result, PG_DIAG_MESSAGE_PRIMARY);
    if (const std::string hint = Field(result, PG_DIAG_MESSAGE_HINT); !hint.empty())
        message += "\nHint: " + hint;
    while (pg_result* more = PQgetResult(handle_.get())) PQclear(more);
    // After an administrator's or a crash's goodbye the connection is gone, although an error came as well.
    if (PQstatus(handle_.get()) != CONNECTION_OK) throw lost();
    if (status != PGRES_TUPLES_OK)
        throw StatementFailed(message.empty() ? "the server refused a statement" : message, state);
    return rows;
}

int Connection::version() const {
    return PQserverVersion(handle_.get());
}

std::string Connection::Where() const {
    const char* host = PQhost(handle_.get());
    return fmt::format("{}:{}/{}", host == nullptr || *host == '\0' ? "local" : host, PQport(handle_.get()),
                       PQdb(handle_.get()));
}

std::string Connection::dbname() const {
    return PQdb(handle_.get());
}

}  // namespace walsizer::cli
