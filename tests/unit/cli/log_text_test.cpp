// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/log_text.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

class LogText : public testing::Test {
 protected:
  void write(const std::string& text) const { folder_.write("trial.log", text); }

  TemporaryFolder folder_{"log"};
  std::filesystem::path path_ = folder_.path() / "trial.log";
};

TEST_F(LogText, APipeGetsTheBytesUnchanged) {
  const std::string bytes("\x1b[2Jloss\xff\n\0x", 12);
  write(bytes);
  EXPECT_EQ(read_log(path_, false).value(), bytes);
}

TEST_F(LogText, ATerminalGetsNothingThatCommandsIt) {
  write("\x1b[2J\x1b]0;title\x07loss=1\xff\nnext\n");
  const std::string text = read_log(path_, true).value();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_NE(text.find("loss=1"), std::string::npos);
  EXPECT_NE(text.find("\nnext\n"), std::string::npos);
}

TEST_F(LogText, EachStateOfAProgressBarIsALine) {
  write("10%\r20%\r30%\ndone\n");
  EXPECT_EQ(read_log(path_, true).value(), "10%\n20%\n30%\ndone\n");
}

TEST_F(LogText, ALogThatIsGoneIsAnErrorWithItsPath) {
  const auto text = read_log("/nonexistent/trial-1.log", true);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().where, "/nonexistent/trial-1.log");
  EXPECT_FALSE(read_log("", true));
}

}  // namespace
}  // namespace steptune
