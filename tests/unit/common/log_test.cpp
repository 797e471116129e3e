// SPDX-License-Identifier: Apache-2.0
#include "common/log.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Log : public ::testing::Test {
 protected:
  ~Log() override { EXPECT_TRUE(set_up_log({})); }
  [[nodiscard]] std::string written() const { return read_file(file_); }
  TemporaryFolder folder_{"log"};
  std::filesystem::path file_ = folder_.path() / "decisions.log";
};

TEST_F(Log, IsOffUnlessAskedFor) {
  EXPECT_FALSE(logs(LogLevel::error));
  EXPECT_FALSE(logs(LogLevel::off));
  ASSERT_TRUE(set_up_log({LogLevel::off, file_}));
  write_log(LogLevel::error, "nobody asked");
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Log, WritesOneLineWithTimeAndLevelAtOnce) {
  ASSERT_TRUE(set_up_log({LogLevel::info, file_}));
  log_line(LogLevel::info, "trial={} verdict=stop", 7);
  EXPECT_THAT(written(), MatchesRegex("[0-9]{4}-[0-9-]{5}T[0-9:.]{12}Z info    trial=7 "
                                      "verdict=stop\n"));
}

TEST_F(Log, LeavesOutLinesBelowItsLevel) {
  ASSERT_TRUE(set_up_log({LogLevel::warning, file_}));
  log_line(LogLevel::info, "decision");
  log_line(LogLevel::warning, "caution");
  EXPECT_THAT(written(), HasSubstr("warning caution"));
  EXPECT_THAT(written(), ::testing::Not(HasSubstr("decision")));
}

TEST_F(Log, WritesATextOfSeveralLinesAsOne) {
  ASSERT_TRUE(set_up_log({LogLevel::info, file_}));
  log_line(LogLevel::info, "reason={}", "first\nsecond\x1b[31m");
  const std::string text = written();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(Log, AppendsToAFileThatExists) {
  for (const char* line : {"first", "second"}) {
    ASSERT_TRUE(set_up_log({LogLevel::info, file_}));
    log_line(LogLevel::info, "{}", line);
  }
  EXPECT_THAT(written(), HasSubstr("first\n"));
  EXPECT_THAT(written(), HasSubstr("second\n"));
}

TEST_F(Log, AFileThatCannotBeWrittenIsAnError) {
  const auto failed = set_up_log({LogLevel::info, "/proc/no/such/folder/log"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::store);
  EXPECT_FALSE(logs(LogLevel::error));
}

TEST(LogOptions, NameALevelAFileOrBoth) {
  const auto expect = [](const char* text, LogLevel level, const char* file) {
    const auto options = parse_log_options(text);
    ASSERT_TRUE(options) << text;
    EXPECT_EQ(options->level, level) << text;
    EXPECT_EQ(options->file, file) << text;
  };
  expect("debug", LogLevel::debug, "");
  expect("off", LogLevel::off, "");
  expect("run.log", LogLevel::info, "run.log");
  expect("/tmp/a:b", LogLevel::info, "/tmp/a:b");
  expect("debug:run", LogLevel::debug, "run");
  const auto failed = parse_log_options("debgu");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().text(), HasSubstr("did you mean \"debug\""));
}

}  // namespace
}  // namespace steptune
