// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/read_file.hpp"
#include "tests/unit/history/fixture.hpp"
#include "tuner/history/schema.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int newest_version() {
  return static_cast<int>(schema_migrations().size());
}

/// Histories as the code of each version wrote them (`sqlite3 history.db .dump`): the same study
/// with a trial in every state.
std::filesystem::path dump_of(int version) {
  return std::filesystem::path(STEPTUNE_SOURCE_DIR) /
         fmt::format("tests/unit/history/data/v{}.sql", version);
}

/// SIGKILL before the statement of this number is run, on any connection that is opened after.
int g_statements_until_kill = 0;

int on_statement(unsigned /*event*/, void* /*context*/, void* /*statement*/, void* /*text*/) {
  if (--g_statements_until_kill < 0) raise(SIGKILL);
  return 0;
}

int watch_statements(sqlite3* database, const char** /*message*/,
                     const sqlite3_api_routines* /*routines*/) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, on_statement, nullptr);
}

class OldVersions : public HistoryFixture, public ::testing::WithParamInterface<int> {
 protected:
  /// A database file of that version; of version 0, none.
  void restore(int version) const {
    std::filesystem::remove_all(path().parent_path());
    std::filesystem::create_directories(path().parent_path());
    if (version == 0) return;
    SQLite::Database(path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(read_file(dump_of(version)));
  }

  [[nodiscard]] int version_on_disk() const {
    if (!std::filesystem::exists(path())) return 0;
    SQLite::Database database(path().string(), SQLite::OPEN_READWRITE);
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    return database.execAndGet("PRAGMA user_version").getInt();
  }

  /// Opens the history in a process of its own that is killed before its statement of that number.
  /// Returns whether it came to its end alive.
  [[nodiscard]] bool opens_before_kill(int statements) const {
    const pid_t child = fork();
    if (child == 0) {
      g_statements_until_kill = statements;
      sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch_statements));
      _exit(History::open_for_writing(path(), clock_) ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
  }

  static void expect_the_stored_study(const History& history) {
    const StudyRecord study = must(history.study("resnet-nightly"));
    EXPECT_EQ(study.fingerprint, "9f2c41d07be35a68");
    EXPECT_EQ(study.seed, 42U);
    EXPECT_EQ(study.status, StudyStatus::interrupted);
    EXPECT_DOUBLE_EQ(study.elapsed_s, 330.0);
    EXPECT_EQ(study.stop_reason, "interrupted by SIGINT");
    EXPECT_EQ(study.recommendation, (Json{{"trial", 2}}));

    using enum TrialStatus;
    std::vector<TrialStatus> states;
    const auto trials = must(history.trials(study.id));
    for (const TrialRecord& trial : trials)
      states.push_back(trial.status);
    ASSERT_THAT(states,
                ElementsAre(completed, completed, stopped_early, infeasible, failed, out_of_memory,
                            interrupted, completed, completed, running, launching));
    const TrialRecord& hint = trials[1];
    EXPECT_EQ(hint.purpose, TrialPurpose::hint);
    EXPECT_EQ(dump_json(to_json(hint.configuration)),
              R"({"batch_size":128,"compile":true,"precision":"bf16","rate":0.1})");
    ASSERT_TRUE(hint.measurement);
    EXPECT_EQ(hint.measurement->status, MeasurementStatus::steady);
    EXPECT_DOUBLE_EQ(hint.measurement->seconds_per_sample, 0.001);
    EXPECT_THAT(hint.objectives, ElementsAre(1000.0, 0.002));
    EXPECT_THAT(hint.standard_errors, ElementsAre(10.0, 0.00001));
    EXPECT_EQ(hint.placement.at("cpus"), "0-1");
    EXPECT_EQ(trials[3].failure, "loss 1.25 > 1.20");
    EXPECT_EQ(trials[7].confirm_pair, 1);
    EXPECT_EQ(trials[9].token, "token-10") << "what adopts a trial that still runs";

    const auto best = must(history.ranked_trials(study.id, 2));
    ASSERT_EQ(best.size(), 2U);
    EXPECT_EQ(best.front().number, 2);
    EXPECT_EQ(must(history.status_counts(study.id)).at(completed), 4);
  }
};

TEST(SchemaVersions, EachHasAHistory) {
  for (int version = 1; version <= newest_version(); ++version) {
    EXPECT_TRUE(std::filesystem::exists(dump_of(version)))
        << dump_of(version) << ": a new version of the schema needs a history that its code wrote";
  }
}

TEST_P(OldVersions, IsOpenedAndGoesOn) {
  restore(GetParam());
  History history = open();
  if (GetParam() == newest_version()) {
    EXPECT_THAT(history.warnings(), IsEmpty());
  } else {
    EXPECT_THAT(history.warnings(), ElementsAre(HasSubstr(fmt::format(".v{}.bak", GetParam()))));
  }
  expect_the_stored_study(history);

  StudyRecord study = must(history.study("resnet-nightly"));
  EXPECT_EQ(must(history.trace(study.id, 2)).has_value(), GetParam() >= 4);
  EXPECT_EQ(must(history.sessions(study.id)).size(), GetParam() >= 4 ? 1U : 0U);
  EXPECT_EQ(must(history.attempts(study.id, 7)).size(), 1U) << "interrupted, and goes on";
  EXPECT_DOUBLE_EQ(study.overhead_usd, GetParam() >= 2 ? 0.25 : 0.0);
  EXPECT_EQ(study.unpaid_suggestions, GetParam() >= 5 ? 2 : 0);
  EXPECT_EQ(must(history.nights("resnet-nightly")).size(), GetParam() >= 7 ? 1U : 0U);
  EXPECT_EQ(must(history.unused_times(study.id)).size(), GetParam() >= 8 ? 1U : 0U);
  EXPECT_EQ(must(history.decisions(study.id)).size(), GetParam() >= 9 ? 2U : 0U);
  must(history.record_night("resnet-nightly", {2, 0.0, "running", Json::object()}));
  must(history.record_launching(study.id, launching_trial(12)));
  study.overhead_usd = 0.5;
  study.unpaid_suggestions = 1;
  must(history.record_study(study));
  EXPECT_DOUBLE_EQ(must(history.study("resnet-nightly")).overhead_usd, 0.5);
  EXPECT_EQ(must(history.study("resnet-nightly")).unpaid_suggestions, 1);
  EXPECT_EQ(must(history.trials(study.id)).size(), 12U);
}

TEST_P(OldVersions, HasTheSchemaOfANewHistoryAfterwards) {
  const auto schema_of = [](const std::filesystem::path& file) {
    const SQLite::Database database(file.string());
    std::map<std::string, std::string> schema;
    SQLite::Statement row(database,
                          "SELECT m.name || '.' || coalesce(c.name, ''), coalesce(c.type, m.sql) "
                          "FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c "
                          "WHERE m.name NOT LIKE 'sqlite_%'");
    while (row.executeStep())
      schema[row.getColumn(0).getString()] = row.getColumn(1).getString();
    return schema;
  };
  restore(GetParam());
  { const History migrated = open(); }
  const auto fresh = folder() / "fresh" / "history.db";
  { const History made = must(History::open_for_writing(fresh, clock_)); }
  EXPECT_EQ(schema_of(path()), schema_of(fresh));
}

TEST_P(OldVersions, CanBeReadAsItIsWhereItsTablesAreThoseOfToday) {
  restore(GetParam());
  const auto opened = History::open_for_reading(path());
  EXPECT_EQ(opened.has_value(), GetParam() >= oldest_readable_version());
  if (opened) {
    EXPECT_EQ(must(opened->trace(1, 2)).has_value(), GetParam() >= 4);
    EXPECT_EQ(must(opened->attempts(1, 7)).size(), GetParam() >= 4 ? 1U : 0U);
    EXPECT_EQ(must(opened->sessions(1)).size(), GetParam() >= 4 ? 1U : 0U);
    EXPECT_EQ(must(opened->nights("resnet-nightly")).size(), GetParam() >= 7 ? 1U : 0U);
    EXPECT_EQ(must(opened->unused_times(1)).size(), GetParam() >= 8 ? 1U : 0U);
    EXPECT_EQ(must(opened->decisions(1)).size(), GetParam() >= 9 ? 2U : 0U);
  }
  EXPECT_EQ(version_on_disk(), GetParam()) << "a reader changed it";
}

TEST_P(OldVersions, KilledAtAnyStatementOfOpeningItIsWholeAndOpensAgain) {
  int statements = 0;
  for (bool alive = false; !alive; ++statements) {
    SCOPED_TRACE(fmt::format("killed before statement {}", statements + 1));
    ASSERT_LT(statements, 200) << "the process is never let through";
    restore(GetParam());
    alive = opens_before_kill(statements);
    const int version = version_on_disk();
    EXPECT_TRUE(version == GetParam() || version == newest_version()) << version;
    const History history = open();
    expect_the_stored_study(history);
  }
  EXPECT_GT(statements, 5) << "the statements are no longer seen";
}

TEST_F(OldVersions, ANewHistoryKilledAtAnyStatementOfItsMakingOpensAgain) {
  int statements = 0;
  for (bool alive = false; !alive; ++statements) {
    SCOPED_TRACE(fmt::format("killed before statement {}", statements + 1));
    ASSERT_LT(statements, 200) << "the process is never let through";
    restore(0);
    alive = opens_before_kill(statements);
    const int version = version_on_disk();
    EXPECT_TRUE(version == 0 || version == newest_version()) << version;
    History history = open();
    EXPECT_EQ(make_study(history).name, "s");
  }
  EXPECT_GT(statements, 10) << "the statements are no longer seen";
}

INSTANTIATE_TEST_SUITE_P(Version, OldVersions, ::testing::Range(1, newest_version() + 1));

}  // namespace
}  // namespace steptune
