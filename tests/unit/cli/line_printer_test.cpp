// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/line_printer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace steptune {
namespace {

class LinePrinterOnAPipe : public testing::Test {
 protected:
  LinePrinterOnAPipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~LinePrinterOnAPipe() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  [[nodiscard]] std::string written() const {
    std::array<char, 4096> buffer{};
    const ssize_t count = read(ends_[0], buffer.data(), buffer.size());
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  std::array<int, 2> ends_{};
};

TEST_F(LinePrinterOnAPipe, WritesPermanentLinesOnly) {
  LinePrinter printer(ends_[1], false);
  printer.status({"3 of 40"});
  printer.print("trial 1 completed");
  printer.clear();
  EXPECT_EQ(written(), "trial 1 completed\n");
}

TEST_F(LinePrinterOnAPipe, RewritesItsBlockBelowPermanentLines) {
  LinePrinter printer(ends_[1], true);
  printer.status({"a", "b"});
  EXPECT_EQ(written(), "a\nb\n");
  printer.status({"c"});
  EXPECT_EQ(written(), "\r\x1b[1A\x1b[2K\x1b[1A\x1b[2Kc\n");
  printer.print("done");
  EXPECT_EQ(written(), "\r\x1b[1A\x1b[2Kdone\nc\n");
  printer.clear();
  EXPECT_EQ(written(), "\r\x1b[1A\x1b[2K");
}

TEST_F(LinePrinterOnAPipe, ShowsTheLastOfTooManyLines) {
  LinePrinter printer(ends_[1], true);
  std::vector<std::string> lines(20, "trial");
  lines.emplace_back("study");
  printer.status(lines);
  const std::string shown = written();
  EXPECT_EQ(std::ranges::count(shown, '\n'), 12);
  EXPECT_TRUE(shown.ends_with("trial\nstudy\n")) << shown;
}

TEST_F(LinePrinterOnAPipe, CutsStatusLinesToTheWidth) {
  LinePrinter printer(ends_[1], true);
  printer.status({std::string(200, 'x')});
  EXPECT_EQ(written().size(), 80U) << "79 columns and a newline if the width is not known";
}

}  // namespace
}  // namespace steptune
