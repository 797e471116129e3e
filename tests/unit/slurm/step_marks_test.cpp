// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/slurm/step_script.hpp"

namespace steptune::slurm {
namespace {

/// Returns a mark as the script prints it: twice, in one write.
std::string mark(const std::string& text) {
  const std::string line = fmt::format("\x1esteptune word {} ;\n", text);
  return line + line;
}

std::string fed(StepMarks& marks, const std::string& bytes) {
  std::string output;
  marks.feed(bytes, [&output](std::string_view text) { output += text; });
  return output;
}

TEST(StepMarks, AreCutOutOfTheOutput) {
  StepMarks marks("word", 2);
  EXPECT_EQ(fed(marks, "a" + mark("start 0 n1 7.3") + "b\n" + mark("start 1 n2 7.3") + "c"),
            "ab\nc");
  EXPECT_TRUE(marks.all_started());
  EXPECT_EQ(marks.step_id(), "7.3");
  EXPECT_EQ(fed(marks, mark("exit 0 0") + mark("exit 1 0")), "");
  EXPECT_TRUE(marks.all_succeeded());
  EXPECT_FALSE(marks.was_asked_to_end());
}

TEST(StepMarks, ForeignAndBrokenMarksAreIgnored) {
  StepMarks marks("word", 2);
  const std::string others = "\x1esteptune else exit 0 0 ;\n";
  EXPECT_EQ(fed(marks, others), others);
  // Another task's output is in the middle of the status.
  EXPECT_EQ(fed(marks, "\x1esteptune word exit 0 13output\n7 ;\n"), "exit 0 13output\n7 ;\n");
  EXPECT_EQ(fed(marks, "\x1esteptune word exit 0 13\n"), "exit 0 13\n");
  EXPECT_EQ(marks.exited(), 0);
  // Another task's mark is in the middle.
  fed(marks,
      "\x1esteptune word ex" + mark("exit 1 0") + "it 0 0 ;\n\x1esteptune word exit 0 5 ;\n");
  EXPECT_EQ(marks.exited(), 2);
  EXPECT_EQ(marks.failure(), 5);
}

TEST(StepMarks, HaveKernelAndProcessorOfEachNode) {
  StepMarks marks("word", 3);
  EXPECT_EQ(fed(marks, mark("node 0 6.1.0-25 AMD EPYC 7763 64-Core Processor")), "");
  EXPECT_EQ(marks.started(), 0);
  // A processor without a name, one in a broken mark, and the first node's again.
  fed(marks, mark("node 1 5.14.0"));
  fed(marks, "\x1esteptune word node 2 4.18.0 Intel\n");
  fed(marks, mark("node 2 6.1.0-25 AMD EPYC 7763 64-Core Processor"));
  EXPECT_EQ(marks.kernels(), (std::set<std::string>{"5.14.0", "6.1.0-25"}));
  EXPECT_EQ(marks.cpus(), std::set<std::string>{"AMD EPYC 7763 64-Core Processor"});
}

TEST(StepMarks, SayWhichTasksWereAskedToEnd) {
  StepMarks preempted("word", 2);
  fed(preempted, mark("exit 1 143 sigterm") + mark("exit 0 1"));
  EXPECT_TRUE(preempted.was_asked_to_end())
      << "the other task fails because its partner is missing";

  StepMarks failed("word", 2);
  fed(failed, mark("exit 1 5") + mark("exit 0 143 sigterm"));
  EXPECT_FALSE(failed.was_asked_to_end()) << "Slurm ends the other tasks of a failed step";
  EXPECT_EQ(failed.failure(), 5);

  StepMarks polite("word", 1);
  fed(polite, mark("exit 0 0 sigterm"));
  EXPECT_TRUE(polite.was_asked_to_end()) << "the program saves its state and exits with 0";
}

/// Returns a stream as messages of the step's daemon: at most 1024 bytes of one task each.
std::vector<std::string> messages_of(const std::string& stream, Rng& rng) {
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t length = rng.uniform() < 0.7 ? 1024 : 200 + rng.below(824);
    messages.push_back(stream.substr(at, length));
    at += length;
  }
  return messages;
}

TEST(StepMarks, MarksOfManyMixedTasksAreFound) {
  constexpr int k_tasks = 256;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, "marks");
    std::vector<std::vector<std::string>> streams;
    for (int task = 0; task < k_tasks; ++task) {
      std::string stream = mark(fmt::format("start {} node{} 12.3", task, task));
      const std::string line(1 + rng.below(300), 'x');
      for (std::uint64_t lines = rng.below(20); lines > 0; --lines)
        stream += line + (rng.uniform() < 0.5 ? "\n" : "\r");
      stream += "\n" + mark(fmt::format("exit {} {}", task, task % 3 == 0 ? 137 : 0));
      streams.push_back(messages_of(stream, rng));
    }
    StepMarks marks("word", k_tasks);
    std::vector<std::size_t> next(k_tasks, 0);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t task = 0; task < k_tasks; ++task) {
        if (next[task] == streams[task].size()) continue;
        more = true;
        if (rng.uniform() < 0.5) fed(marks, streams[task][next[task]++]);
      }
    }
    EXPECT_EQ(marks.started(), k_tasks) << "seed " << seed;
    EXPECT_EQ(marks.exited(), k_tasks) << "seed " << seed;
    EXPECT_EQ(marks.failure(), 137);
    for (const auto& [task, host] : marks.hosts())
      EXPECT_EQ(host, fmt::format("node{}", task));
  }
}

}  // namespace
}  // namespace steptune::slurm
