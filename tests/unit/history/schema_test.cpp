// SPDX-License-Identifier: Apache-2.0
// Tests the versions of the schema, by made-up migrations.
#include "tuner/history/schema.hpp"

#include <array>
#include <csignal>
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/history/fixture.hpp"

namespace steptune {
namespace {

using ::testing::AnyOf;

constexpr std::array<Migration, 3> k_steps{"CREATE TABLE a (x INTEGER)",
                                           "ALTER TABLE a ADD COLUMN y INTEGER",
                                           "CREATE TABLE b (z INTEGER)"};
constexpr std::array<Migration, 3> k_broken{k_steps[0], k_steps[1], "CREATE NONSENSE"};

std::span<const Migration> first(std::size_t count) {
  return std::span<const Migration>(k_steps).first(count);
}

/// More statements than any migration has.
constexpr int k_most_statements = 200;

/// Number of the statement before which SIGKILL comes, on each connection that is opened later.
int g_statements_until_kill = 0;

int on_statement(unsigned /*event*/, void* /*context*/, void* /*statement*/, void* /*text*/) {
  if (--g_statements_until_kill < 0) raise(SIGKILL);
  return 0;
}

int watch_statements(sqlite3* database, const char** /*message*/,
                     const sqlite3_api_routines* /*routines*/) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, on_statement, nullptr);
}

/// Runs `action` in a process that is killed before statement number `statements`. True if the
/// process ended by itself.
bool finishes_before_kill(int statements, const std::function<bool()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    g_statements_until_kill = statements;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch_statements));
    _exit(action() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
  return !WIFSIGNALED(status);
}

/// Checks that the database is intact, and returns its version.
int version_of(SQLite::Database& database) {
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
  return database.execAndGet("PRAGMA user_version").getInt();
}

class Schema : public HistoryFixture {
 protected:
  Schema() { empty_folder(); }
  void empty_folder() const {
    std::filesystem::remove_all(path().parent_path());
    std::filesystem::create_directories(path().parent_path());
  }
  [[nodiscard]] SQLite::Database database(const std::filesystem::path& file) const {
    return SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  }
};

TEST_F(Schema, ANewDatabaseIsMadeWithoutABackup) {
  auto opened = database(path());
  EXPECT_EQ(must(migrate(opened, path(), k_steps)), std::nullopt);
  EXPECT_EQ(opened.execAndGet("PRAGMA user_version").getInt(), 3);
  EXPECT_TRUE(opened.tableExists("b"));
}

TEST_F(Schema, AnOlderDatabaseIsMigratedAfterABackup) {
  auto opened = database(path());
  must(migrate(opened, path(), first(1)));
  opened.exec("INSERT INTO a VALUES (7)");
  const auto backup = must(migrate(opened, path(), k_steps));
  ASSERT_EQ(backup, path().string() + ".v1.bak");
  EXPECT_EQ(opened.execAndGet("SELECT x FROM a").getInt(), 7);
  auto copy = database(*backup);
  EXPECT_EQ(copy.execAndGet("PRAGMA user_version").getInt(), 1);
  EXPECT_EQ(copy.execAndGet("SELECT x FROM a").getInt(), 7);
}

TEST_F(Schema, AMigrationThatFailsLeavesTheOldVersion) {
  auto opened = database(path());
  must(migrate(opened, path(), first(1)));
  const auto failed = migrate(opened, path(), k_broken);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::store);
  EXPECT_EQ(opened.execAndGet("PRAGMA user_version").getInt(), 1);
  EXPECT_TRUE(must(migrate(opened, path(), k_steps))) << "and can be tried again";
}

TEST_F(Schema, AKilledMigrationLeavesTheOldOrNewVersion) {
  int statements = 0;
  for (bool alive = false; !alive; ++statements) {
    SCOPED_TRACE(fmt::format("killed before statement {}", statements + 1));
    ASSERT_LT(statements, k_most_statements) << "the process is never let through";
    empty_folder();
    {
      auto opened = database(path());
      must(migrate(opened, path(), first(1)));
      opened.exec("INSERT INTO a VALUES (7)");
    }
    alive = finishes_before_kill(statements, [this] {
      auto opened = database(path());
      return migrate(opened, path(), k_steps).has_value();
    });
    auto opened = database(path());
    EXPECT_THAT(version_of(opened), AnyOf(1, 3));
    must(migrate(opened, path(), k_steps));
    EXPECT_EQ(version_of(opened), 3);
    EXPECT_EQ(opened.execAndGet("SELECT x FROM a").getInt(), 7);
  }
  EXPECT_GT(statements, 5) << "the statements are no longer seen";
}

TEST_F(Schema, ANewHistoryKilledInItsCreationOpensAgain) {
  const int newest = static_cast<int>(schema_migrations().size());
  int statements = 0;
  for (bool alive = false; !alive; ++statements) {
    SCOPED_TRACE(fmt::format("killed before statement {}", statements + 1));
    ASSERT_LT(statements, k_most_statements) << "the process is never let through";
    empty_folder();
    alive = finishes_before_kill(
        statements, [this] { return History::open_for_writing(path(), clock_).has_value(); });
    if (std::filesystem::exists(path())) {
      auto opened = database(path());
      EXPECT_THAT(version_of(opened), AnyOf(0, newest));
    }
    History history = open();
    EXPECT_EQ(make_study(history).name, "s");
  }
  EXPECT_GT(statements, 10) << "the statements are no longer seen";
}

TEST_F(Schema, AnUnfinishedBackupIsReplaced) {
  auto opened = database(path());
  must(migrate(opened, path(), first(2)));
  {
    auto rubbish = database(path().string() + ".v2.bak.part");
    rubbish.exec("CREATE TABLE r (q)");
  }
  const auto backup = must(migrate(opened, path(), k_steps));
  ASSERT_TRUE(backup);
  EXPECT_FALSE(database(*backup).tableExists("r"));
}

TEST_F(Schema, TheLeaderboardReadsAnIndex) {
  auto opened = database(path());
  must(migrate(opened, path(), schema_migrations()));
  SQLite::Statement plan(opened,
                         "EXPLAIN QUERY PLAN SELECT number FROM trials WHERE study_id = 1 AND "
                         "status = 'completed' AND objective_1 IS NOT NULL ORDER BY objective_1");
  std::string text;
  while (plan.executeStep())
    text += plan.getColumn(3).getString() + "\n";
  EXPECT_THAT(text, ::testing::HasSubstr("USING INDEX trials_by_status"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("TEMP B-TREE")));
}

TEST_F(Schema, TrialsThatDecideAStandingAreReadByIndex) {
  auto opened = database(path());
  must(migrate(opened, path(), schema_migrations()));
  SQLite::Statement plan(
      opened,
      "EXPLAIN QUERY PLAN SELECT number FROM trials WHERE study_id = 1 AND "
      "purpose IN ('baseline', 'sentinel', 'confirm_incumbent', 'confirm_baseline')");
  std::string text;
  while (plan.executeStep())
    text += plan.getColumn(3).getString() + "\n";
  EXPECT_THAT(text, ::testing::HasSubstr("USING INDEX trials_that_decide"));
}

}  // namespace
}  // namespace steptune
