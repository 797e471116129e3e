// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/schema.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/fixture.hpp"

namespace steptune {
namespace {

constexpr std::array<Migration, 3> k_steps{"CREATE TABLE a (x INTEGER)",
                                           "ALTER TABLE a ADD COLUMN y INTEGER",
                                           "CREATE TABLE b (z INTEGER)"};
constexpr std::array<Migration, 3> k_broken{k_steps[0], k_steps[1], "CREATE NONSENSE"};

std::span<const Migration> first(std::size_t count) {
  return std::span<const Migration>(k_steps).first(count);
}

class Schema : public HistoryFixture {
 protected:
  Schema() { std::filesystem::create_directories(path().parent_path()); }
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

TEST_F(Schema, AProcessKilledInAMigrationLeavesTheOldVersionOrTheNew) {
  {
    auto opened = database(path());
    must(migrate(opened, path(), first(1)));
  }
  for (const bool killed_while_migrating : {true, false}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto opened = database(path());
      if (killed_while_migrating) {
        SQLite::Transaction transaction(opened, SQLite::TransactionBehavior::IMMEDIATE);
        opened.exec(k_steps[1]);
        opened.exec("PRAGMA user_version = 2");
        raise(SIGKILL);
      }
      _exit(migrate(opened, path(), k_steps) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    auto opened = database(path());
    EXPECT_EQ(opened.execAndGet("PRAGMA user_version").getInt(), killed_while_migrating ? 1 : 3);
    EXPECT_EQ(opened.execAndGet("PRAGMA integrity_check").getString(), "ok");
  }
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

TEST_F(Schema, WhatDecidesAStandingIsReadFromAnIndex) {
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

TEST_F(Schema, ADatabaseThatOnlyLacksAnIndexIsReadAsItIs) {
  const auto oldest = static_cast<std::size_t>(oldest_readable_version());
  ASSERT_LT(oldest, schema_migrations().size());
  for (const std::size_t version : {oldest - 1, oldest}) {
    std::filesystem::remove(path());
    {
      auto opened = database(path());
      must(migrate(opened, path(), schema_migrations().first(version)));
    }
    const auto history = History::open_for_reading(path());
    EXPECT_EQ(history.has_value(), version == oldest) << version;
    if (!history) continue;
    EXPECT_TRUE(must(history->standing_trials(1, 10)).empty());
  }
}

}  // namespace
}  // namespace steptune
