// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/schema.hpp"

#include <array>
#include <system_error>

#include <fmt/format.h>

#include "tuner/history/store.hpp"

namespace steptune {
namespace {

/// "STPT": distinguishes Steptune's databases from databases of other programs (PRAGMA
/// application_id).
constexpr int k_application_id = 0x53545054;

// Objectives are columns, and triggers count states, so that a leaderboard of a million trials only
// reads an index. Values that are never searched or sorted are stored as JSON. `nights` has no
// foreign key: a night outlives its study.
constexpr Migration k_version_1 = R"sql(
CREATE TABLE studies (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  fingerprint TEXT NOT NULL,
  document TEXT NOT NULL,
  seed INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'interrupted', 'finished')),
  created_wall_s REAL NOT NULL,
  elapsed_s REAL NOT NULL,
  stop_reason TEXT NOT NULL,
  recommendation TEXT,
  overhead_usd REAL NOT NULL DEFAULT 0.0,
  unpaid_suggestions INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE trials (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  purpose TEXT NOT NULL CHECK (purpose IN
    ('baseline', 'hint', 'search', 'sentinel', 'confirm_incumbent', 'confirm_baseline')),
  confirm_pair INTEGER NOT NULL,
  origin TEXT NOT NULL,
  configuration TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('launching', 'running', 'completed', 'stopped_early', 'infeasible', 'failed',
     'out_of_memory', 'interrupted')),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  token TEXT NOT NULL,
  started_wall_s REAL NOT NULL,
  ended_wall_s REAL NOT NULL,
  spent_s REAL NOT NULL,
  spent_usd REAL NOT NULL,
  objective_count INTEGER NOT NULL CHECK (objective_count BETWEEN 0 AND 2),
  objective_1 REAL,
  objective_2 REAL,
  standard_error_1 REAL,
  standard_error_2 REAL,
  measurement TEXT,
  peak_memory_bytes REAL,
  other_load REAL,
  steal REAL,
  failure TEXT NOT NULL,
  placement TEXT NOT NULL,
  log_path TEXT NOT NULL,
  PRIMARY KEY (study_id, number)
) STRICT;
CREATE INDEX trials_by_status ON trials (study_id, status, objective_1);
CREATE INDEX trials_that_decide ON trials (study_id)
  WHERE purpose IN ('baseline', 'sentinel', 'confirm_incumbent', 'confirm_baseline');
CREATE TABLE status_counts (
  study_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  trials INTEGER NOT NULL,
  PRIMARY KEY (study_id, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER trial_inserted AFTER INSERT ON trials BEGIN
  INSERT INTO status_counts VALUES (new.study_id, new.status, 1)
    ON CONFLICT (study_id, status) DO UPDATE SET trials = trials + 1;
END;
CREATE TRIGGER trial_changed AFTER UPDATE OF status ON trials WHEN old.status <> new.status BEGIN
  UPDATE status_counts SET trials = trials - 1
    WHERE study_id = old.study_id AND status = old.status;
  INSERT INTO status_counts VALUES (new.study_id, new.status, 1)
    ON CONFLICT (study_id, status) DO UPDATE SET trials = trials + 1;
END;
CREATE TRIGGER trial_deleted AFTER DELETE ON trials BEGIN
  UPDATE status_counts SET trials = trials - 1
    WHERE study_id = old.study_id AND status = old.status;
END;
CREATE TABLE traces (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  trace TEXT NOT NULL,
  PRIMARY KEY (study_id, number)
) STRICT;
CREATE TABLE attempts (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  status TEXT NOT NULL,
  started_wall_s REAL NOT NULL,
  ended_wall_s REAL NOT NULL,
  spent_s REAL NOT NULL,
  spent_usd REAL NOT NULL,
  failure TEXT NOT NULL,
  PRIMARY KEY (study_id, number, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  session INTEGER NOT NULL CHECK (session >= 1),
  started_wall_s REAL NOT NULL,
  machine TEXT NOT NULL,
  PRIMARY KEY (study_id, session)
) STRICT, WITHOUT ROWID;
CREATE TABLE nights (
  study TEXT NOT NULL,
  night INTEGER NOT NULL CHECK (night >= 1),
  started_wall_s REAL NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'kept', 'improved', 'regressed', 'failed')),
  record TEXT NOT NULL,
  PRIMARY KEY (study, night)
) STRICT, WITHOUT ROWID;
CREATE TABLE unused_times (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  machine TEXT NOT NULL,
  from_wall_s REAL NOT NULL,
  to_wall_s REAL NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (study_id, machine, from_wall_s)
) STRICT, WITHOUT ROWID;
CREATE TABLE decisions (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  decision INTEGER NOT NULL CHECK (decision >= 1),
  at_wall_s REAL NOT NULL,
  kind TEXT NOT NULL,
  trial INTEGER,
  text TEXT NOT NULL,
  numbers TEXT NOT NULL,
  PRIMARY KEY (study_id, decision)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array<Migration, 1> k_migrations{k_version_1};

std::filesystem::path with_suffix(std::filesystem::path path, const std::string& suffix) {
  path += suffix;
  return path;
}

Result<std::filesystem::path> back_up(SQLite::Database& database, const std::filesystem::path& path,
                                      int version) {
  const auto backup = with_suffix(path, fmt::format(".v{}.bak", version));
  const auto unfinished = with_suffix(backup, ".part");
  std::error_code error;
  std::filesystem::remove(unfinished, error);
  SQLite::Statement copy(database, "VACUUM INTO ?");
  copy.bind(1, unfinished.string());
  copy.exec();
  std::filesystem::permissions(
      unfinished, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  if (!error) std::filesystem::rename(unfinished, backup, error);
  if (error) {
    return fail(ErrorKind::store, "the backup before a migration failed: " + error.message(),
                backup.string(), "free disk space, or make that folder writable");
  }
  return backup;
}

}  // namespace

std::span<const Migration> schema_migrations() {
  return k_migrations;
}

Result<int> schema_version(SQLite::Database& database, const std::filesystem::path& path,
                           int newest) {
  // Read everything in one snapshot: another program may be creating the tables.
  const SQLite::Transaction snapshot(database, SQLite::TransactionBehavior::DEFERRED);
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  const int application_id = database.execAndGet("PRAGMA application_id").getInt();
  const bool is_empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
  if (is_empty && version == 0) return 0;
  if (application_id != k_application_id || version <= 0) {
    return fail(ErrorKind::store, "is the database of another program", path.string(),
                "name a steptune history, or a new file, with --db");
  }
  if (version > newest) {
    return fail(ErrorKind::store,
                fmt::format("was written by a newer steptune (history version {}, this program "
                            "knows up to {})",
                            version, newest),
                path.string(), "update steptune, or choose another history with --db");
  }
  return version;
}

Result<std::optional<std::filesystem::path>> migrate(SQLite::Database& database,
                                                     const std::filesystem::path& path,
                                                     std::span<const Migration> migrations) {
  try {
    const int newest = static_cast<int>(migrations.size());
    const auto version = schema_version(database, path, newest);
    if (!version) return tl::unexpected(version.error());
    std::optional<std::filesystem::path> backup;
    if (*version == newest) return backup;
    if (*version > 0) {
      auto made = back_up(database, path, *version);
      if (!made) return tl::unexpected(made.error());
      backup = *std::move(made);
    }
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    for (const Migration migration : migrations.subspan(static_cast<std::size_t>(*version))) {
      database.exec(migration);
    }
    database.exec(fmt::format("PRAGMA application_id = {}", k_application_id));
    database.exec(fmt::format("PRAGMA user_version = {}", newest));
    transaction.commit();
    return backup;
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(store_error(exception, path));
  }
}

}  // namespace steptune
