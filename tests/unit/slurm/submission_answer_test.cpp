// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "trial_runner/slurm/submission.hpp"

namespace steptune::slurm {
namespace {

TEST(SubmissionAnswer, TakesTheLastNumberOfASitesWrapper) {
  const auto answer =
      read_submission({0, false, "Welcome\n3 jobs of yours\n123;cluster\nbye\n", {}});
  EXPECT_EQ(answer, "123");
}

TEST(SubmissionAnswer, OnlyTheControllersRefusalProvesThatThereIsNoJob) {
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

TEST(SubmissionAnswer, TemporaryErrorsAreRetried) {
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
