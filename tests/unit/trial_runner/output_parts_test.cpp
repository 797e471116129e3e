// SPDX-License-Identifier: Apache-2.0
// Tests that the kept output of a program does not depend on the pieces in which it arrives, over
// fixed seeds.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "common/utf8.hpp"
#include "tests/support/must.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/output/log_file.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string random_output(Rng& rng, std::size_t bytes) {
  std::string output;
  while (output.size() < bytes) {
    output += std::string(rng.below(200), static_cast<char>('a' + rng.below(26)));
    output += std::string("\n\r\n \xFF")[rng.below(5)];
  }
  output.resize(bytes);
  return output;
}

std::vector<std::string_view> random_pieces(Rng& rng, std::string_view output, std::size_t most) {
  std::vector<std::string_view> pieces;
  while (!output.empty()) {
    const std::size_t size = std::min<std::size_t>(output.size(), 1 + rng.below(most));
    pieces.push_back(output.substr(0, size));
    output.remove_prefix(size);
  }
  return pieces;
}

std::vector<std::string> lines_of_pieces(const std::vector<std::string_view>& pieces) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string_view piece : pieces)
    splitter.feed(piece, keep);
  splitter.flush(keep);
  return lines;
}

TEST(OutputLines, AreTheSameInAnyPieces) {
  Rng rng(1, "output");
  for (int i = 0; i < 40; ++i) {
    const std::string output = random_output(rng, rng.below(5000));
    const auto whole = lines_of_pieces({output});
    EXPECT_EQ(lines_of_pieces(random_pieces(rng, output, 1)), whole);
    EXPECT_EQ(lines_of_pieces(random_pieces(rng, output, 300)), whole);
    std::string joined;
    for (const std::string& line : whole) {
      EXPECT_FALSE(line.empty());
      joined += line;
    }
    std::string expected = output;
    std::erase_if(expected, [](char c) { return c == '\n' || c == '\r'; });
    EXPECT_EQ(joined, expected) << "nothing is lost";
  }
}

TEST(OutputLines, ATooLongLineIsCutTheSameInAnyPieces) {
  const std::string longest(LineSplitter::k_max_line_bytes, 'x');
  for (const std::size_t more : {0U, 1U, 100'000U}) {
    const std::string output = longest + std::string(more, 'y') + "\nnext\n";
    Rng rng(more, "pieces");
    EXPECT_THAT(lines_of_pieces({output}), ElementsAre(longest, "next")) << more;
    EXPECT_THAT(lines_of_pieces(random_pieces(rng, output, 9000)), ElementsAre(longest, "next"));
  }
}

TEST(OutputTailProperty, KeepsTheLast32KiB) {
  Rng rng(2, "output");
  for (const std::size_t bytes : {0U, 1U, 32'767U, 32'768U, 32'769U, 65'537U, 200'000U}) {
    const std::string output = random_output(rng, bytes);
    for (const std::size_t most : {700U, 50'000U}) {
      OutputTail tail;
      for (const std::string_view piece : random_pieces(rng, output, most))
        tail.feed(piece);
      const std::size_t kept = std::min(bytes, OutputTail::k_bytes);
      EXPECT_EQ(tail.text(), std::string_view(output).substr(bytes - kept)) << bytes;
    }
  }
}

TEST(OutputTailProperty, LastLinesArePrintable) {
  Rng rng(3, "output");
  for (int i = 0; i < 40; ++i) {
    OutputTail tail;
    tail.feed(random_output(rng, rng.below(3000)));
    const auto ten = tail.last_lines(10);
    EXPECT_LE(ten.size(), 10U);
    for (const std::string& line : ten) {
      EXPECT_TRUE(is_utf8(line));
      EXPECT_EQ(line.find_first_of("\n\r\x1b"), std::string::npos);
    }
    const auto three = tail.last_lines(3);
    ASSERT_EQ(three.size(), std::min<std::size_t>(3, ten.size()));
    EXPECT_TRUE(std::equal(three.rbegin(), three.rend(), ten.rbegin())) << "the latest of them";
  }
  EXPECT_THAT(OutputTail().last_lines(5), IsEmpty());
}

TEST(OutputTailOfLaunch, EndsWithTheErrorsAndNotWithTheLaunchersSummary) {
  OutputTail tail;
  tail.feed(R"(Epoch 0
Traceback (most recent call last):
  File "train.py", line 16, in <module>
    raise ValueError("a picture is damaged")
ValueError: a picture is damaged
Traceback (most recent call last):
  File "train.py", line 13, in <module>
    loss.backward()
RuntimeError: Connection closed by peer
ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 1 (pid: 7)
Traceback (most recent call last):
  File "/usr/bin/torchrun", line 33, in <module>
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
Root Cause (first observed failure):
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
)");
  EXPECT_THAT(tail.last_lines(10),
              ElementsAre("Epoch 0", "ValueError: a picture is damaged",
                          "RuntimeError: Connection closed by peer",
                          testing::HasSubstr("failed (exitcode: 1) local_rank: 1 (pid: 7)")));
}

TEST(OutputTailProperty, KeepsOutputSinceTheLastProgressButOne) {
  OutputTail tail;
  tail.feed("loading\n");
  EXPECT_EQ(tail.since_progress(), "loading\n") << "there was no progress yet";
  tail.feed("step 1\n");
  tail.mark_progress(0, 1.0);
  tail.feed("step 2\n");
  tail.mark_progress(0, 2.0);
  tail.feed("step 3\n");
  tail.mark_progress(0, 3.0);
  EXPECT_EQ(tail.since_progress(), "step 3\n");
  tail.feed("the end\n");
  EXPECT_EQ(tail.since_progress(), "step 3\nthe end\n");
  tail.mark_progress(0, 3.0);
  EXPECT_EQ(tail.since_progress(), "step 3\nthe end\n")
      << "a count that does not grow is no progress";
  tail.mark_progress(1, 1.0);
  EXPECT_EQ(tail.since_progress().substr(0, 7), "loading") << "another process has just begun";
}

TEST(LogFileProperty, KeepsHeadAndTailUpToTheCap) {
  const TemporaryFolder folder("log");
  const auto path = folder.path() / "trial.log";
  Rng rng(4, "output");
  constexpr std::size_t k_cap = 5001;
  constexpr std::size_t k_head = k_cap / 2;
  constexpr std::size_t k_tail = k_cap - k_head;
  for (const std::size_t bytes :
       {0U, 1U, 2500U, 2501U, 5000U, 5001U, 5002U, 7502U, 7503U, 60'000U}) {
    const std::string output = random_output(rng, bytes);
    for (const std::size_t most : {50U, 3000U, 100'000U}) {
      LogFile log = must(LogFile::create(path, k_cap));
      for (const std::string_view piece : random_pieces(rng, output, most))
        log.write(piece);
      log.finish();
      EXPECT_EQ(log.fault(), "");
      std::string expected = output;
      if (bytes > k_cap) {
        expected = output.substr(0, k_head) + "\n--- " + std::to_string(bytes - k_cap) +
                   " bytes omitted ---\n" + output.substr(bytes - k_tail);
      }
      EXPECT_EQ(read_file(path), expected) << bytes << " bytes in pieces of " << most;
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "no temporary file is left";
}

TEST(LogFileProperty, NeverTakesMoreThanItsCapWhileItIsWritten) {
  const TemporaryFolder folder("log");
  LogFile log = must(LogFile::create(folder.path() / "trial.log", 8192));
  for (int i = 0; i < 200; ++i) {
    log.write(std::string(1000, 'x'));
    EXPECT_LE(std::filesystem::file_size(folder.path() / "trial.log"), 8192U);
  }
}

TEST(LogFileProperty, IsReadableByTheUserOnly) {
  const TemporaryFolder folder("log");
  must(LogFile::create(folder.path() / "trial.log", 8192)).finish();
  const auto rights = std::filesystem::status(folder.path() / "trial.log").permissions();
  EXPECT_EQ(rights & std::filesystem::perms(077), std::filesystem::perms::none)
      << "programs print tokens";
  const auto nowhere = LogFile::create(folder.path() / "none" / "trial.log", 8192);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::runner);
  EXPECT_EQ(nowhere.error().where, (folder.path() / "none" / "trial.log").string());
}

}  // namespace
}  // namespace steptune
