// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/history/lock_file.hpp"

namespace steptune {

/// Explains an exception of SQLite to the user: which file, why, and what to do next.
[[nodiscard]] Error store_error(const SQLite::Exception& exception,
                                const std::filesystem::path& path);

/// A cached statement in use. Its destructor resets the statement, which ends its read transaction.
class Query {
 public:
  explicit Query(SQLite::Statement& statement) : statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { statement_.tryReset(); }

  /// Binds the next parameter, from first to last. Doubles that are not finite and empty optionals
  /// become NULL.
  Query& bind(std::int64_t value);
  Query& bind(double value);
  Query& bind(const std::string& value);
  Query& bind(const std::optional<double>& value);
  Query& bind_null();

  [[nodiscard]] bool step() { return statement_.executeStep(); }
  /// Runs a statement without rows. Returns the number of changed rows.
  int run() { return statement_.exec(); }
  [[nodiscard]] SQLite::Column column(int index) const { return statement_.getColumn(index); }

 private:
  SQLite::Statement& statement_;
  int bound_ = 0;
};

/// The open database behind a `History`.
struct History::Store {
  Store(std::filesystem::path file, SQLite::Database open_database);

  /// Opens an existing file for reading. Fails like `History::open_for_reading`.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open_for_reading(
      const std::filesystem::path& path, double busy_timeout_s);
  [[nodiscard]] Result<void> begin_reading();
  /// Opens the file again, because a reader of a snapshot sees no later change.
  [[nodiscard]] Result<void> renew();
  /// Returns the statement with this text, prepared at its first use.
  [[nodiscard]] Query query(std::string_view sql);
  /// Runs `action` in one IMMEDIATE transaction. A deferred transaction would fail at its first
  /// write if another program had written since its start. The busy timeout does not prevent this.
  template <typename Action>
  [[nodiscard]] Result<void> write(Action action);
  /// Runs `action`, which returns a `Result`. Exceptions of SQLite become errors.
  template <typename Action>
  [[nodiscard]] std::invoke_result_t<Action> catch_errors(Action action) const;

  /// Returns an error of kind `store` about this file.
  [[nodiscard]] Error damaged(const std::string& what) const;

  std::filesystem::path path;
  // Destroyed in reverse: statements before the database, the lock last.
  std::optional<LockFile> lock;
  SQLite::Database database;
  std::map<std::string, SQLite::Statement, std::less<>> statements;
  const Clock* clock = nullptr;
  double busy_timeout_s = 0.0;
  /// True if SQLite assumes that the file never changes.
  bool is_snapshot = false;
  std::vector<std::string> warnings;
};

template <typename Action>
std::invoke_result_t<Action> History::Store::catch_errors(Action action) const {
  try {
    return action();
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(store_error(exception, path));
  }
}

template <typename Action>
Result<void> History::Store::write(Action action) {
  return catch_errors([&]() -> Result<void> {
    query("BEGIN IMMEDIATE").run();
    struct Rollback {
      SQLite::Database& database;
      bool active = true;
      ~Rollback() {
        // SQLite may already have rolled back by itself.
        if (active) database.tryExec("ROLLBACK");
      }
    } rollback{database};
    Result<void> done = action();
    if (!done) return done;
    query("COMMIT").run();
    rollback.active = false;
    return done;
  });
}

}  // namespace steptune
