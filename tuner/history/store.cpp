// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/store.hpp"

#include <cmath>

#include <fmt/format.h>
#include <sqlite3.h>

namespace steptune {
namespace {

struct Explanation {
  std::string message;
  std::string hint;
};

Explanation explain(int code, const std::string& reason) {
  switch (code) {
    case SQLITE_FULL:
      return {"cannot be written: the disk is full",
              "free disk space and run the same command again: it continues where it stopped"};
    case SQLITE_IOERR:
      return {"cannot be read or written: " + reason,
              "check the disk (space, quota, hardware), then run the same command again: it "
              "continues where it stopped"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {"is not writable: " + reason,
              "make the file and its folder writable, or choose another history with --db"};
    case SQLITE_CANTOPEN:
      return {"cannot be opened: " + reason,
              "check the permissions of the file and its folder (readers create FILE-shm there, "
              "too), or choose another history with --db"};
    case SQLITE_NOTADB:
      return {"is not an SQLite database", "name a history with --db"};
    case SQLITE_CORRUPT:
      return {"is damaged: " + reason,
              "restore a backup, try `sqlite3 FILE .recover`, or start a new history with --db"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {"is locked by another program", "end that program and try again"};
    default:
      return {reason, ""};
  }
}

}  // namespace

Error store_error(const SQLite::Exception& exception, const std::filesystem::path& path) {
  const int primary_code = exception.getErrorCode() & 0xFF;
  const int extended_code = exception.getExtendedErrorCode();
  std::string reason = exception.what();
  if (primary_code == SQLITE_IOERR) {
    reason += fmt::format(" (SQLite code {})", extended_code);
  }
  const Explanation explanation = explain(primary_code, reason);
  return Error{ErrorKind::store, explanation.message, path.string(), explanation.hint};
}

Query& Query::bind(std::int64_t value) {
  statement_.bind(++bound_, value);
  return *this;
}

Query& Query::bind(double value) {
  if (!std::isfinite(value)) return bind_null();
  statement_.bind(++bound_, value);
  return *this;
}

Query& Query::bind(const std::string& value) {
  statement_.bind(++bound_, value);
  return *this;
}

Query& Query::bind(const std::optional<double>& value) {
  return value ? bind(*value) : bind_null();
}

Query& Query::bind_null() {
  statement_.bind(++bound_);
  return *this;
}

History::Store::Store(std::filesystem::path file, SQLite::Database open_database)
    : path(std::move(file)), database(std::move(open_database)) {}

Query History::Store::query(std::string_view sql) {
  auto found = statements.find(sql);
  if (found == statements.end()) {
    std::string text(sql);
    SQLite::Statement statement(database, text);
    found = statements.emplace(std::move(text), std::move(statement)).first;
  }
  return Query(found->second);
}

Result<void> History::Store::renew() {
  auto now = open_for_reading(path, busy_timeout_s);
  if (!now) return tl::unexpected(now.error());
  statements.clear();
  database = std::move((*now)->database);
  is_snapshot = (*now)->is_snapshot;
  return {};
}

Error History::Store::damaged(const std::string& what) const {
  return Error{ErrorKind::store, "is damaged: " + what, path.string(),
               "restore a backup, or start a new history with --db"};
}

}  // namespace steptune
