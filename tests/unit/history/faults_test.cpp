// SPDX-License-Identifier: Apache-2.0
// Tests a history whose surroundings misbehave.
#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/history/fixture.hpp"
#include "tuner/history/file_system.hpp"
#include "tuner/history/schema.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

class HistoryFaults : public HistoryFixture {
 protected:
  void write_file(const std::string& content) {
    std::filesystem::create_directories(path().parent_path());
    std::ofstream(path(), std::ios::binary) << content;
  }
};

TEST_F(HistoryFaults, ASecondWriterIsRefusedWithThePidOfTheFirst) {
  const History first = open();
  const auto second = History::open_for_writing(path(), clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
  EXPECT_THAT(second.error().text(), HasSubstr("pid " + std::to_string(getpid())));
  EXPECT_THAT(second.error().hint, HasSubstr("kill -INT"));
}

TEST_F(HistoryFaults, ASecondWriterThatComesByALinkIsRefused) {
  const auto link = folder() / "link.db";
  { const History created = open(); }
  std::filesystem::create_symlink(path(), link);
  const History first = open();
  EXPECT_TRUE(History::has_writer(link));
  const auto second = History::open_for_writing(link, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
}

TEST_F(HistoryFaults, CheckingForAWriterHindersNoWriter) {
  { const History created = open(); }
  const std::string lock = path().string() + ".lock";
  EXPECT_FALSE(History::has_writer(path()));
  const int looking = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(looking, LOCK_SH), 0);
  std::thread looker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    close(looking);
  });
  const auto opened = History::open_for_writing(path(), clock_);
  looker.join();
  EXPECT_TRUE(opened) << opened.error().text();
  EXPECT_TRUE(History::has_writer(path()));
}

TEST_F(HistoryFaults, OneOfTenWritersProceeds) {
  { const History created = open(); }
  std::array<int, 2> gate{};
  std::array<int, 2> hold{};
  ASSERT_EQ(pipe(gate.data()), 0);
  ASSERT_EQ(pipe(hold.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(fork());
    ASSERT_GE(children.back(), 0);
    if (children.back() != 0) continue;
    close(hold[1]);
    const auto history = History::open_for_writing(path(), clock_);
    const char outcome = history ? 'w' : (history.error().kind == ErrorKind::conflict ? 'c' : '?');
    [[maybe_unused]] const auto written = write(gate[1], &outcome, 1);
    char byte = 0;
    // Until the parent has received everything.
    [[maybe_unused]] const auto held = read(hold[0], &byte, 1);
    _exit(0);
  }
  std::string outcomes;
  char outcome = 0;
  while (outcomes.size() < 10 && read(gate[0], &outcome, 1) == 1)
    outcomes += outcome;
  for (const int descriptor : {gate[0], gate[1], hold[0], hold[1]})
    close(descriptor);
  for (const pid_t child : children)
    waitpid(child, nullptr, 0);
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), 'w'), 1) << outcomes;
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), 'c'), 9) << outcomes;
}

TEST_F(HistoryFaults, TheLockOutlivesACopyOfTheDatabase) {
  // Copy by SQLite, since opening the files directly would release the locks.
  History history = open();
  const auto study = make_study(history);
  must(history.record_launching(study.id, launching_trial(1)));
  const auto copy = folder() / "copy.db";
  {
    SQLite::Database source(path().string(), SQLite::OPEN_READONLY);
    SQLite::Statement vacuum(source, "VACUUM INTO ?");
    vacuum.bind(1, copy.string());
    vacuum.exec();
  }
  const auto second = History::open_for_writing(path(), clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::conflict);
  must(history.record_launching(study.id, launching_trial(2)));
  EXPECT_EQ(must(History::open_for_reading(copy)).trials(study.id)->size(), 1U);
  EXPECT_EQ(must(history.trials(study.id)).size(), 2U);
}

TEST_F(HistoryFaults, ReadersNeverHinderTheWriter) {
  const auto study_id = [&] {
    History history = open();
    return make_study(history).id;
  }();
  // Fork before the writer opens the database, since connections do not survive a fork.
  std::vector<pid_t> readers;
  for (int i = 0; i < 4; ++i) {
    readers.push_back(fork());
    ASSERT_GE(readers.back(), 0);
    if (readers.back() != 0) continue;
    std::size_t last = 0;
    while (last < 100) {
      const auto reader = History::open_for_reading(path());
      const auto trials = reader ? reader->trials(study_id) : tl::unexpected(reader.error());
      if (!trials || trials->size() < last) _exit(1);
      last = trials->size();
    }
    _exit(0);
  }
  History history = open();
  for (int number = 1; number <= 100; ++number) {
    must(history.record_launching(study_id, launching_trial(number)));
  }
  for (const pid_t reader : readers) {
    int status = 0;
    ASSERT_EQ(waitpid(reader, &status, 0), reader);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(HistoryFaults, ADeadWritersLockIsNoHindrance) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto history = History::open_for_writing(path(), clock_);
    _exit(history ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(History::open_for_writing(path(), clock_));
}

TEST_F(HistoryFaults, CommittedTrialsSurviveTheWritersDeath) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto history = History::open_for_writing(path(), clock_);
    if (!history) _exit(1);
    const auto study = history->create_or_continue_study("s", "p", Json{}, 1);
    if (!study || !history->record_launching(study->id, launching_trial(1))) _exit(2);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  const History reader = must(History::open_for_reading(path()));
  const auto trials = must(reader.trials(must(reader.study("s")).id));
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].status, TrialStatus::launching);
}

TEST_F(HistoryFaults, NoHistoryIsNotFound) {
  const auto reader = History::open_for_reading(path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(std::filesystem::exists(path())) << "reading creates nothing";
}

/// Fakes a read-only disk, since root may write every other file.
void forbid_index(const std::filesystem::path& database) {
  std::filesystem::create_symlink("nowhere", database.string() + "-shm");
}

TEST_F(HistoryFaults, IsReadIfSQLiteCannotCreateFiles) {
  const auto database = folder() / "a b" / "100 %?#&.db";
  const auto open_it = [&] { return must(History::open_for_writing(database, clock_)); };
  {
    History history = open_it();
    make_study(history);
  }
  forbid_index(database);
  const History reader = must(History::open_for_reading(database));
  EXPECT_EQ(must(reader.study("s")).name, "s");
  const auto counter = must(reader.change_counter());
  EXPECT_EQ(must(reader.change_counter()), counter) << "no process has written";

  // The history can be continued from the same file on a writable disk.
  std::filesystem::remove(database.string() + "-shm");
  History writer = open_it();
  must(writer.create_or_continue_study("t", "fingerprint", Json{{"name", "t"}}, 42));
  EXPECT_NE(must(reader.change_counter()), counter);
  EXPECT_EQ(must(reader.study("t")).name, "t");
}

TEST_F(HistoryFaults, AReaderRefusesAnUnreadableWriteAheadLog) {
  { const History history = open(); }
  forbid_index(path());
  std::ofstream(path().string() + "-wal") << "what was committed last";
  const auto reader = History::open_for_reading(path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::store);
  EXPECT_THAT(reader.error().hint, HasSubstr("-shm"));
}

TEST_F(HistoryFaults, AFileOfAnotherKindIsRefusedAndLeftAlone) {
  const std::string text(5000, 'x');
  write_file(text);
  for (const auto& result :
       {History::open_for_reading(path()).map([](const History&) {}),
        History::open_for_writing(path(), clock_).map([](const History&) {})}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::store);
    EXPECT_THAT(result.error().text(), HasSubstr("not an SQLite database"));
    EXPECT_THAT(result.error().text(), HasSubstr(path().string()));
  }
  EXPECT_EQ(std::filesystem::file_size(path()), text.size());
}

TEST_F(HistoryFaults, ADatabaseOfAnotherProgramIsRefused) {
  std::filesystem::create_directories(path().parent_path());
  SQLite::Database(path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE songs (title TEXT)");
  const auto opened = History::open_for_writing(path(), clock_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text(), HasSubstr("another program"));
}

TEST_F(HistoryFaults, ATruncatedDatabaseGivesAnErrorNotACrash) {
  {
    History history = open();
    const auto study = make_study(history);
    for (int number = 1; number <= 200; ++number) {
      must(history.record_launching(study.id, launching_trial(number)));
    }
  }
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) / 2);
  const auto opened = History::open_for_reading(path());
  const auto trials = opened ? opened->trials(1) : tl::unexpected(opened.error());
  ASSERT_FALSE(trials);
  EXPECT_EQ(trials.error().kind, ErrorKind::store);
}

TEST_F(HistoryFaults, AnErrorNamesTheTrialOfAnEditedRow) {
  const auto study_id = [&] {
    History history = open();
    const auto study = make_study(history);
    must(history.record_launching(study.id, launching_trial(7)));
    return study.id;
  }();
  const auto expect_error = [&](const std::string& column, const std::string& text) {
    SQLite::Database database(path().string(), SQLite::OPEN_READWRITE);
    database.exec("BEGIN");
    const std::string former = database.execAndGet("SELECT quote(" + column + ") FROM trials");
    database.exec("UPDATE trials SET " + column + " = '" + text + "'");
    database.exec("COMMIT");
    const auto trials = must(History::open_for_reading(path())).trials(study_id);
    ASSERT_FALSE(trials) << text.substr(0, 30);
    EXPECT_EQ(trials.error().kind, ErrorKind::store);
    EXPECT_THAT(trials.error().text(), HasSubstr("trial 7"));
    database.exec("UPDATE trials SET " + column + " = " + former);
  };
  for (const std::string& text :
       {std::string(R"({"a": [1)"), std::string(R"({"a": [1]})"), std::string(R"({"a": 1} {})"),
        std::string(R"({"a": 18446744073709551615})"), std::string(100'000, '['), std::string(),
        std::string("{\"a\": \"\xff\"}")}) {
    expect_error("configuration", text);
  }
  expect_error("placement", "[]");
  for (const char* text :
       {"[]", "{}", R"({"status": "odd"})", R"({"status": "steady", "milestones": [1]})",
        R"({"status": "steady", "hook": {"a": tru}})", R"({"status": "steady")"}) {
    expect_error("measurement", text);
  }
  EXPECT_TRUE(must(History::open_for_reading(path())).trials(study_id)) << "as it was";
}

TEST_F(HistoryFaults, ANewerVersionIsRefused) {
  { make_study(*std::make_unique<History>(open())); }
  SQLite::Database(path().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 999");
  for (const auto& result :
       {History::open_for_reading(path()).map([](const History&) {}),
        History::open_for_writing(path(), clock_).map([](const History&) {})}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::store);
    EXPECT_THAT(result.error().text(), HasSubstr("newer"));
  }
}

TEST_F(HistoryFaults, AForeignLockIsWaitedForThenReported) {
  History history = must(History::open_for_writing(path(), clock_, 0.05));
  const auto study = make_study(history);
  SQLite::Database other(path().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const auto refused = history.record_launching(study.id, launching_trial(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::store);
  EXPECT_THAT(refused.error().text(), HasSubstr("locked"));
  other.exec("ROLLBACK");
  EXPECT_TRUE(history.record_launching(study.id, launching_trial(1)));
}

/// Lowers the limit on file sizes while it exists.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    previous_handler_ = signal(SIGXFSZ, SIG_IGN);
    rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, previous_handler_);
  }

 private:
  rlimit before_{};
  void (*previous_handler_)(int) = SIG_DFL;
};

TEST_F(HistoryFaults, AFullDiskIsReportedAndLosesNothing) {
  History history = open();
  const auto study = make_study(history);
  must(history.record_launching(study.id, launching_trial(1)));
  {
    const SmallFiles limit(std::filesystem::file_size(path().string() + "-wal"));
    const auto refused = history.record_launching(study.id, launching_trial(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::store);
    EXPECT_EQ(refused.error().where, path().string());
    EXPECT_FALSE(refused.error().hint.empty());
  }
  must(history.record_launching(study.id, launching_trial(2)));
  EXPECT_EQ(must(history.trials(study.id)).size(), 2U);
}

TEST(HistoryFileSystem, NetworkFileSystemsAreKnown) {
  EXPECT_EQ(file_system_kind(0x6969).trust, FileSystemTrust::network);
  EXPECT_EQ(file_system_kind(0x6969).name, "NFS");
  EXPECT_EQ(file_system_kind(0xFF534D42).trust, FileSystemTrust::network);
  EXPECT_EQ(file_system_kind(0x01021997).trust, FileSystemTrust::doubtful);
  EXPECT_EQ(file_system_kind(0xEF53).trust, FileSystemTrust::local);
}

}  // namespace
}  // namespace steptune
