// SPDX-License-Identifier: Apache-2.0
//
// Tests how squeue's output is read, and what it means for the holder of a job.
#include "trial_runner/slurm/queue.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string k_queue_heading =
    "JOBID|STATE|REASON|START_TIME|END_TIME|SUBMIT_TIME|NODES|CPUS|NODELIST|NAME\n";

std::vector<QueueRow> rows_of(const std::string& lines) {
  const auto rows = parse_queue(k_queue_heading + lines);
  EXPECT_TRUE(rows) << "no list";
  return rows.value_or(std::vector<QueueRow>{});
}

TEST(QueueList, FieldsAreReadInOrder) {
  const auto rows =
      rows_of("17|RUNNING|None|1795000000|1795003600|1794999990|2|128|n[3-4]|steptune.a.1.k.p5\n");
  ASSERT_EQ(rows.size(), 1U);
  const QueueRow& row = rows.front();
  EXPECT_EQ(row.id, "17");
  EXPECT_EQ(row.state, "RUNNING");
  EXPECT_EQ(row.reason, "None");
  EXPECT_EQ(row.start_wall_s, 1'795'000'000.0);
  EXPECT_EQ(row.end_wall_s, 1'795'003'600.0);
  EXPECT_EQ(row.submit_wall_s, 1'794'999'990.0);
  EXPECT_EQ(row.nodes, 2);
  EXPECT_EQ(row.cpus, 128);
  EXPECT_EQ(row.node_list, "n[3-4]");
  EXPECT_EQ(row.name, "steptune.a.1.k.p5");
}

TEST(QueueList, UnknownTimesAreNullopt) {
  const auto rows = rows_of("17|PENDING|Priority|N/A|NONE|12x|1|1||a\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().start_wall_s, std::nullopt);
  EXPECT_EQ(rows.front().end_wall_s, std::nullopt);
  EXPECT_EQ(rows.front().submit_wall_s, std::nullopt);
  EXPECT_EQ(rows.front().node_list, "");
}

TEST(QueueList, ANameMayContainABarOrBeEmpty) {
  const auto rows = rows_of("1|RUNNING|None|1|2|3|1|1|n1|a|b c|\n2|RUNNING|None|1|2|3|1|1|n1|");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "a|b c|");
  EXPECT_EQ(rows[1].name, "");
}

TEST(QueueList, OtherOutputIsSkipped) {
  EXPECT_THAT(rows_of(""), IsEmpty());
  EXPECT_THAT(rows_of("\nWelcome|to|this|cluster\n"
                      "x1|RUNNING|None|1|2|3|1|1|n1|no number\n"
                      "12_[1-3]|PENDING|None|1|2|3|1|1|n1|an array's\n"
                      "|RUNNING|None|1|2|3|1|1|n1|nothing\n"
                      "7||None|1|2|3|1|1|n1|no state\n"
                      "8|RUNNING|None|1|2|3|1|1|n1\n"),
              IsEmpty());
}

TEST(QueueList, AListWithoutItsHeadingIsRefused) {
  EXPECT_EQ(parse_queue(""), std::nullopt);
  EXPECT_EQ(parse_queue("17|RUNNING|None|1|2|3|1|1|n1|a\n"), std::nullopt);
  EXPECT_TRUE(parse_queue("warning: slow\n" + k_queue_heading).has_value());
}

/// However the list is cut, no job is invented, and complete lines are kept.
TEST(QueueList, ATruncatedListHasTheJobsBeforeTheCut) {
  std::string text = k_queue_heading;
  std::vector<std::size_t> ends;
  for (int job = 1; job <= 5; ++job) {
    text += fmt::format("{}|PENDING|Priority|N/A|N/A|1795000000|1|1||job{}\n", 100 + job, job);
    ends.push_back(text.size());
  }
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto rows = parse_queue(std::string_view(text).substr(0, cut));
    const auto whole = static_cast<std::size_t>(
        std::ranges::count_if(ends, [cut](std::size_t end) { return end <= cut; }));
    if (!rows) {
      EXPECT_LT(cut, k_queue_heading.size());
      continue;
    }
    ASSERT_GE(rows->size(), whole);
    ASSERT_LE(rows->size(), whole + 1);
    for (std::size_t job = 0; job < rows->size(); ++job)
      EXPECT_EQ((*rows)[job].id, std::to_string(101 + job));
  }
}

TEST(QueueList, IsRequestedInTheFormatThatIsParsed) {
  const auto command = queue_command();
  EXPECT_EQ(command.front(), "squeue");
  EXPECT_THAT(command, ::testing::Contains("--me")) << "lists only this user's jobs";
  EXPECT_THAT(command, ::testing::Contains("--all")) << "includes jobs in hidden partitions";
  EXPECT_THAT(command, ::testing::Contains("--format=%i|%T|%r|%S|%e|%V|%D|%C|%N|%j"));
}

TEST(StepList, HasTheStepsThatHaveANumber) {
  EXPECT_THAT(parse_steps("17.0|t1-a1-l1-ab\n17.batch|batch\n17.TBD|waits\n17|no step\nnothing\n"
                          "x.1|a\n.1|b\n17.|c\n18.12|with|bar"),
              ElementsAre(Pair("17.0", "t1-a1-l1-ab"), Pair("18.12", "with|bar")));
  EXPECT_THAT(parse_steps(""), IsEmpty());
}

TEST(JobPhases, EveryStateOfSlurmHasAPhase) {
  const auto expect = [](JobPhase phase, std::initializer_list<const char*> states) {
    for (const char* state : states)
      EXPECT_EQ(phase_of(state), phase) << state;
  };
  expect(JobPhase::usable, {"RUNNING", "SIGNALING", "SIGNALLING"});
  expect(JobPhase::waiting, {"PENDING", "CONFIGURING", "POWER_UP_NODE", "POWERING_UP", "RESIZING"});
  expect(JobPhase::suspended, {"SUSPENDED", "STOPPED"});
  expect(JobPhase::held, {"REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"});
  expect(JobPhase::over, {"COMPLETING", "COMPLETED", "CANCELLED", "CANCELLED by 1000", "TIMEOUT",
                          "FAILED", "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "OUT_OF_MEMORY",
                          "DEADLINE", "REVOKED", "STAGE_OUT", "GONE"});
  expect(JobPhase::waiting, {"A_STATE_OF_A_LATER_SLURM", ""});
}

TEST(JobPhases, AreDescribedInWords) {
  EXPECT_EQ(words_of("PREEMPTED"), "preempted by a job of higher priority");
  EXPECT_EQ(words_of("CANCELLED by 1000"), "cancelled by someone else");
  EXPECT_EQ(words_of(k_gone_state), "no longer known to the controller");
  EXPECT_EQ(words_of("ODD\x1b[31m"), "in the state ODD");
  EXPECT_LE(words_of(std::string(500, 'X')).size(), 60U);
}

TEST(WaitKinds, DistinguishTemporaryFromPermanentReasons) {
  const auto expect = [](WaitKind kind, std::initializer_list<const char*> reasons) {
    for (const char* reason : reasons)
      EXPECT_EQ(wait_kind(reason), kind) << reason;
  };
  expect(WaitKind::waits,
         {"Priority", "Resources", "None", "", "Dependency", "AssocGrpNodeLimit",
          "QOSMaxCpuPerUserLimit", "AssocGrpCPURunMinutesLimit", "QOSGrpMemRunMinutes",
          "ReqNodeNotAvail, UnavailableNodes:n[1-4]", "A_LATER_REASON"});
  expect(WaitKind::never,
         {"PartitionNodeLimit", "PartitionTimeLimit", "BadConstraints", "InvalidAccount",
          "AccountNotAllowed", "DependencyNeverSatisfied", "ReservationDeleted",
          "PartitionTimeLimit, of gpu", "QOSMaxNodePerJobLimit", "AssocMaxCpuPerJobLimit",
          "QOSMinGRES", "MaxCpuPerNode", "AssocGrpCPUMinutesLimit", "QOSGrpGRESMinutes"});
  expect(WaitKind::held, {"JobHeldUser", "JobHeldAdmin", "PartitionDown", "PartitionInactive",
                          "JobHeldAdmin,with text", "launch failed requeued held"});
}

TEST(FirstHost, IsFoundInAnyListOfNodes) {
  for (const auto& [list, host] : {std::pair{"n1", "n1"},
                                   {"n1,n2", "n1"},
                                   {"n[3-5,7],m1", "n3"},
                                   {"n[7]", "n7"},
                                   {"m1,n[3-5]", "m1"},
                                   {"n[007-012]", "n007"},
                                   {"r[1-2]-gpu,x", "r1-gpu"},
                                   {"r[1-2]n[003-004,9],x", "r1n003"},
                                   {"n[3,5]", "n3"},
                                   {"", ""},
                                   {"n[3", "n[3"},
                                   {"n[3-", "n3"}})
    EXPECT_EQ(first_host(list), host) << list;
}

TEST(FirstHost, IsFoundInCompressedLists) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "hosts");
    const std::string stem = rng.below(2) == 0 ? "node" : "r1-n";
    const std::uint64_t first = rng.below(90);
    std::string list = fmt::format("{}[{:02}", stem, first);
    std::uint64_t last = first;
    bool is_range_end = false;
    for (std::uint64_t left = rng.below(4); left > 0; --left) {
      last += 1 + rng.below(3);
      is_range_end = !is_range_end && rng.below(2) == 0;
      list += fmt::format("{}{:02}", is_range_end ? "-" : ",", last);
    }
    list += "]" + std::string(rng.below(2) == 0 ? "" : ",zz9");
    EXPECT_EQ(first_host(list), fmt::format("{}{:02}", stem, first)) << list;
  }
}

}  // namespace
}  // namespace steptune::slurm
