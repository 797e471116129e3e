// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/lacked_stream.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(LackedStream, IsATerminalIfAProgramsMessageMentionsOne) {
  for (const std::string words : {
           "stty: 'standard input': Inappropriate ioctl for device",
           "OSError: [Errno 25] Inappropriate ioctl for device",
           "termios.error: (25, 'Inappropriate ioctl for device')",
           "the input device is not a TTY",
           "tput: No value for $TERM and no -T specified",
           "_curses.error: setupterm: could not find terminal",
           "_curses.error: cbreak() returned ERR",
       }) {
    EXPECT_EQ(lacked_stream(words), LackedStream::terminal) << words;
  }
}

TEST(LackedStream, IsInputIfAProgramsMessageMentionsItsEnd) {
  for (const std::string words :
       {"Continue? [y/N] Traceback (most recent call last):\n"
        "  File \"t.py\", line 1, in <module>\nEOFError: EOF when reading a line",
        "java.util.NoSuchElementException: No line found"}) {
    EXPECT_EQ(lacked_stream(words), LackedStream::input) << words;
  }
}

TEST(LackedStream, IsNotReportedForOtherFailures) {
  for (const std::string words :
       {"", "RuntimeError: CUDA error", "FileNotFoundError: train.txt", "terminated"}) {
    EXPECT_EQ(lacked_stream(words), LackedStream::none) << words;
    EXPECT_EQ(advice_for(lacked_stream(words)), "");
  }
}

}  // namespace
}  // namespace steptune
