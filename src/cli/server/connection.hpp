// A connection with psql's habits: -h -p -U -d -w -W, a URI or conninfo string, PG* variables, service and
// password files.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "walsizer/units.hpp"

struct pg_conn;
struct pg_result;

namespace CLI {
class App;
}

namespace walsizer::cli {

struct ConnectionOptions {
    std::string target;  // dbname, URI or conninfo string, as psql's first argument
    std::string host;
    std::string port;
    std::string user;
    std::string dbname;
    bool never_prompt = false;
    bool prompt = false;
};

void AddConnectionOptions(CLI::App& command, ConnectionOptions& options);

// The server cannot be reached, or the connection broke: trying again may help.
class ConnectionLost : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The server answered a statement with an error.
class StatementFailed : public std::runtime_error {
  public:
    StatementFailed(const std::string& message, std::string state)
        : std::runtime_error(message), sqlstate(std::move(state)) {}
    std::string sqlstate;
};

// Rows of text, as psql would show them.
class Rows {
  public:
    explicit Rows(pg_result* result);

    int size() const;
    bool empty() const { return size() == 0; }
    int Column(const char* name) const;  // -1: there is none of this name
    bool IsNull(int row, int column) const;
    std::string Text(int row, int column) const;
    // Of the first row, by name; empty when NULL or missing.
    std::optional<std::string> Get(const char* name, int row = 0) const;
    std::int64_t Integer(const char* name, int row = 0, std::int64_t otherwise = 0) const;
    double Number(const char* name, int row = 0, double otherwise = 0) const;
    bool Flag(const char* name, int row = 0) const;  // 't'; NULL is false

  private:
    std::shared_ptr<pg_result> result_;
};

class Connection {
  public:
    // Asks for a password where psql would. Throws ConnectionLost.
    static Connection Open(const ConnectionOptions& options);

    // Connects anew with the same parameters and password. Throws ConnectionLost.
    void Reconnect();

    // Throws StatementFailed, or ConnectionLost when the answer does not come within the server's usual time.
    // Ends early, with ConnectionLost, when the user interrupts.
    Rows Query(const std::string& statement);

    int version() const;        // 150020
    std::string Where() const;  // "db1:5432/app"
    std::string dbname() const;

  private:
    struct Close {
        void operator()(pg_conn* connection) const;
    };
    using Handle = std::unique_ptr<pg_conn, Close>;
    using Parameters = std::vector<std::pair<std::string, std::string>>;

    explicit Connection(Parameters parameters) : parameters_(std::move(parameters)) {}
    Handle Attempt() const;
    void Take(Handle handle);

    Parameters parameters_;
    Handle handle_;
};

}  // namespace walsizer::cli
