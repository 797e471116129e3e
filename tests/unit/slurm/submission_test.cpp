// SPDX-License-Identifier: Apache-2.0
//
// Tests the request for an allocation, sbatch's answer, and the request for a step.
#include "trial_runner/slurm/submission.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/slurm/step_words.hpp"

namespace steptune::slurm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> words_for(const AllocationSpec& requested,
                                   const SlurmOptions& options = {},
                                   const std::string& avoided = "") {
  return submit_words(requested, options, "steptune.a.1.k.p5", avoided);
}

document::Formula formula(double value, const std::string& text) {
  return document::Formula::constant(value, text);
}

TEST(SubmitWords, RequestNodesUnderTheStudysName) {
  const auto words = words_for({2, {}});
  EXPECT_EQ(words.front(), "sbatch");
  EXPECT_THAT(words, AllOf(Contains("--parsable"), Contains("--job-name=steptune.a.1.k.p5"),
                           Contains("--nodes=2"), Contains("--ntasks-per-node=1"),
                           Contains("--no-requeue"), Contains("--output=/dev/null")));
}

TEST(SubmitWords, RequestsWholeNodesByDefault) {
  EXPECT_THAT(words_for({}), AllOf(Contains("--exclusive"), Contains("--mem=0")));
  SlurmOptions shared;
  shared.exclusive = false;
  EXPECT_THAT(words_for({}, shared), Not(Contains("--exclusive")));
  EXPECT_THAT(words_for({1, {"mem=8G"}}), AllOf(Contains("--mem=8G"), Not(Contains("--mem=0"))));
  EXPECT_THAT(words_for({1, {std::string(k_site_memory)}}), Not(Contains(HasSubstr("--mem"))));
}

TEST(SubmitWords, TheTimeLimitIsThatOfTheSpecOrTheDefaultInWholeMinutes) {
  SlurmOptions options;
  options.default_time_s = 3601.0;
  EXPECT_THAT(words_for({}, options), Contains("--time=61")) << "never less than was asked for";
  options.default_time_s = 3600.0;
  EXPECT_THAT(words_for({}, options), Contains("--time=60"));
  const auto words = words_for({1, {"time=2-12"}}, options);
  EXPECT_THAT(words, Contains("--time=2-12"));
  EXPECT_EQ(std::ranges::count_if(words, [](auto& word) { return word.starts_with("--time"); }), 1);
}

TEST(StepWords, TasksShareTheCpusOfTheSmallestNode) {
  SlurmOptions options;
  Allocation allocation;
  allocation.id = "7";
  allocation.nodes = 2;
  allocation.cpus = 96;
  const auto words = [&](const char* cpus_per_node) {
    return step_words({}, {2, {}}, options, allocation, cpus_per_node, "t1-a1-l1-ab");
  };
  EXPECT_THAT(words("64,32"), Contains("--cpus-per-task=32"));
  EXPECT_THAT(words(""), Contains("--cpus-per-task=48")) << "the nodes are not known";
  options.tasks_per_node = formula(4.0, "4");
  EXPECT_THAT(words("64,32"), Contains("--cpus-per-task=8"));
  options.cpus_per_task = formula(3.0, "3");
  EXPECT_THAT(words("64,32"), Contains("--cpus-per-task=3"));
}

TEST(StepWords, ReadTheCpusOfNodesInSlurmsForm) {
  EXPECT_EQ(least_cpus("64"), 64);
  EXPECT_EQ(least_cpus("64(x2)"), 64);
  EXPECT_EQ(least_cpus("64(x2),32,128(x10)"), 32);
  for (const char* other : {"64(x2", "", "x", "64,", "64(2)", "64 32", "-64", "0"})
    EXPECT_EQ(least_cpus(other), std::nullopt) << other;
}

TEST(SubmitWords, OptionsOfTheSpecKeepTheirOrder) {
  const auto words = words_for({1, {"partition=gpu", "gpus-per-node=a100:2", "contiguous"}});
  const auto at = [&](const char* word) { return std::ranges::find(words, word); };
  ASSERT_NE(at("--contiguous"), words.end());
  EXPECT_LT(at("--partition=gpu"), at("--gpus-per-node=a100:2"));
  EXPECT_LT(at("--gpus-per-node=a100:2"), at("--contiguous"));
}

TEST(SubmitWords, LostNodesAndThoseTheUserExcludesAreExcluded) {
  EXPECT_THAT(words_for({}, {}, ""), Not(Contains(StartsWith("--exclude"))));
  EXPECT_EQ(words_for({}, {}, "n2,n3").back(), "--exclude=n2,n3");
  EXPECT_EQ(words_for({1, {"exclude=n1"}}, {}, "n2").back(), "--exclude=n1,n2")
      << "sbatch uses only the last --exclude";
  EXPECT_EQ(words_for({1, {"exclude=n1"}}).back(), "--exclude=n1");
}

TEST(SubmitWords, CpusAndTasksAreFixedIfAllTrialsAgree) {
  SlurmOptions options;
  EXPECT_THAT(words_for({}, options), Not(Contains(StartsWith("--cpus-per-task"))));
  EXPECT_EQ(fixed_cpus_per_task(options), std::nullopt);
  options.cpus_per_task = formula(8.0, "8");
  options.tasks_per_node = formula(4.0, "4");
  EXPECT_THAT(words_for({}, options),
              AllOf(Contains("--cpus-per-task=8"), Contains("--ntasks-per-node=4")));
  EXPECT_EQ(fixed_cpus_per_task(options), 8);
  EXPECT_EQ(held_tasks_per_node(options), 4);
  options.cpus_per_task = formula(8.0, "workers + 1");
  options.tasks_per_node = formula(4.0, "gpus");
  EXPECT_THAT(words_for({}, options),
              AllOf(Not(Contains(StartsWith("--cpus-per-task"))), Contains("--ntasks-per-node=1")));
}

TEST(LastWords, AreTheLastErrorOrLine) {
  const auto of = [](int status, const char* out, const char* err, bool timed_out = false) {
    return last_words({status, timed_out, out, err});
  };
  EXPECT_EQ(of(1, "", "sbatch: warning\nsbatch: error: no such partition\n\n"),
            "sbatch: error: no such partition");
  EXPECT_EQ(of(1, "", "hello\nsbatch: error: name an account\nsbatch: error: Unspecified error\n"),
            "sbatch: error: name an account | sbatch: error: Unspecified error");
  EXPECT_EQ(of(1, "", "sbatch: error: a\n\nsbatch: error: b"), "sbatch: error: b");
  EXPECT_EQ(of(1, "to stdout\n", ""), "to stdout");
  EXPECT_EQ(of(1, "to stdout", "to stderr"), "to stderr");
  EXPECT_EQ(of(3, "", ""), "exit status 3");
  EXPECT_EQ(of(3, "", "\n\n"), "exit status 3");
  EXPECT_EQ(of(1, "", "one line"), "one line");
  EXPECT_EQ(of(1, "", "\x1b[31mred\x1b[0m"), "red");
  EXPECT_EQ(of(1, "said", "said too", true), "no answer in time");
}

TEST(Submission, TakesTheLastNumberOfASitesWrapper) {
  const auto answer =
      read_submission({0, false, "Welcome\n3 jobs of yours\n123;cluster\nbye\n", {}});
  EXPECT_EQ(answer, "123");
}

TEST(Submission, OnlyTheControllersRefusalProvesThatThereIsNoJob) {
  const auto of = [](int status, const char* err, bool timed_out = false, const char* out = "") {
    return read_submission({status, timed_out, out, err}).error();
  };
  EXPECT_EQ(of(1,
               "sbatch: error: invalid partition specified: nope\n"
               "sbatch: error: Batch job submission failed: Invalid partition name specified\n"),
            Setback::refused);
  EXPECT_EQ(of(1, "sbatch: unrecognized option '--nope'\n"), Setback::refused);
  EXPECT_EQ(of(127, "sbatch: cannot start: No such file or directory\n"), Setback::refused);
  EXPECT_EQ(of(1,
               "sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
               "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
               "(job submit limit, user's size and/or time limits)\n"),
            Setback::full);

  EXPECT_EQ(of(1,
               "sbatch: error: Batch job submission failed: Socket timed out on send/recv "
               "operation\n"),
            Setback::unclear);
  EXPECT_EQ(of(1, "sbatch: error: Unable to contact slurm controller\n"), Setback::unclear);
  EXPECT_EQ(of(137, ""), Setback::unclear) << "killed, perhaps after the submission";
  EXPECT_EQ(of(1, "wrapper: logging failed\n", false, "123\n"), Setback::unclear);
  EXPECT_EQ(of(0, "", true), Setback::unclear);
  EXPECT_EQ(of(0, ""), Setback::unclear) << "no number";
}

TEST(Submission, TemporaryErrorsAreRetried) {
  const auto passes = [](const char* err, bool timed_out = false) {
    return may_pass({1, timed_out, "", err});
  };
  EXPECT_TRUE(passes("", true));
  EXPECT_TRUE(passes("sbatch: error: Unable to contact slurm controller\n"));
  EXPECT_TRUE(passes("sbatch: error: AssocMaxSubmitJobLimit\n"));
  EXPECT_FALSE(passes("sbatch: error: invalid partition specified: nope\n"));
  EXPECT_FALSE(passes(""));
}

}  // namespace
}  // namespace steptune::slurm
