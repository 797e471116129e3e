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

/// What an exception of SQLite means to the user: which file, why, and what to do next.
[[nodiscard]] Error store_error(const SQLite::Exception& exception,
                                const std::filesystem::path& path);

/// A cached statement in use; on destruction it is reset, which ends a read transaction it holds.
class Query {
 public:
  explicit Query(SQLite::Statement& statement) : statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { statement_.tryReset(); }

  /// Binds the next parameter, first to last. Doubles that are not finite and empty optionals
  /// become NULL.
  Query& bind(std::int64_t value);
  Query& bind(double value);
  Query& bind(const std::string& value);
  Query& bind(const std::optional<double>& value);
  Query& bind_null();

  [[nodiscard]] bool step() { return statement_.executeStep(); }
  /// Runs a statement without rows; the number of rows that changed.
  int run() { return statement_.exec(); }
  [[nodiscard]] SQLite::Column column(int index) const { return statement_.getColumn(index); }

 private:
  SQLite::Statement& statement_;
  int bound_ = 0;
};

/// The open database behind a `History`.
struct History::Store {
  Store(std::filesystem::path file, SQLite::Database open_database);

  /// Errors are those of `History::open_for_reading`, of which this is all but whether there is
  /// such a file.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open_for_reading(
      const std::filesystem::path& path, double busy_timeout_s);
  [[nodiscard]] Result<void> begin_reading();
  /// Opens the file again as it is now; whoever reads a snapshot sees no change otherwise.
  [[nodiscard]] Result<void> renew();
  /// The statement of this text, prepared at its first use.
  [[nodiscard]] Query query(std::string_view sql);
  /// Runs `action` in one IMMEDIATE transaction: a deferred one that becomes a writer fails at once
  /// when another program has written in between, whatever the busy timeout.
  template <typename Action>
  [[nodiscard]] Result<void> write(Action action);
  /// Runs `action`, which returns a `Result`; exceptions of SQLite become errors.
  template <typename Action>
  [[nodiscard]] std::invoke_result_t<Action> catch_errors(Action action) const;

  /// Error of kind `store` about this file.
  [[nodiscard]] Error damaged(const std::string& what) const;

  std::filesystem::path path;
  // Destroyed in reverse: statements before the database, the lock last.
  std::optional<LockFile> lock;
  SQLite::Database database;
  std::map<std::string, SQLite::Statement, std::less<>> statements;
  const Clock* clock = nullptr;
  double busy_timeout_s = 0.0;
  /// SQLite takes it for a file that never changes.
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
        // SQLite may have rolled back by itself, which is as good.
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
