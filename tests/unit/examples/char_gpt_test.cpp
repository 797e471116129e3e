// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "program.hpp"

namespace steptune::test {

namespace {

using testing::HasSubstr;
using testing::Not;

const std::string k_char_gpt = STEPTUNE_BINARY_DIR "/bin/char_gpt";

/// Returns the command of a small model, so that the tests are quick.
std::vector<std::string> command(const std::vector<std::string>& options) {
  std::vector<std::string> argv = {k_char_gpt, "--width",           "32", "--layers",
                                   "2",        "--sequence-length", "32"};
  argv.insert(argv.end(), options.begin(), options.end());
  return argv;
}

std::vector<Report> reports_with(const std::vector<std::string>& options) {
  const Ended ended = run(command(options), true);
  EXPECT_EQ(ended.exit_status, 0) << ended.err;
  std::vector<Report> reports = reports_in(ended.out);
  EXPECT_FALSE(reports.empty());
  if (reports.empty()) reports.emplace_back().metrics["loss"] = -1.0;
  return reports;
}

TEST(CharGpt, LearnsTheSystemsLicences) {
  const auto reports = reports_with({"--steps", "120", "--learning-rate", "0.003"});
  // For about 100 symbols, guessing gives 4.6, and knowing only their frequencies 3.3.
  EXPECT_GT(reports.front().metrics.at("loss"), 4.0);
  EXPECT_LT(reports.back().metrics.at("loss"), 3.2);
  EXPECT_GT(reports.back().parts.at("compute"), 0.0);
}

TEST(CharGpt, LearnsTheUsersText) {
  const std::string file = testing::TempDir() + "/steptune-text-" + std::to_string(getpid());
  std::ofstream text(file);
  for (int line = 0; line < 500; ++line)
    text << "abcabcabc\n";
  text.close();
  const auto reports = reports_with({"--steps", "60", "--data", file, "--learning-rate", "0.005"});
  EXPECT_LT(reports.back().metrics.at("loss"), 0.5);
  std::filesystem::remove(file);
}

TEST(CharGpt, AccumulatedMicroBatchesAreOneBatch) {
  const Report whole = reports_with({"--steps", "4", "--micro-batch", "8"}).back();
  const Report parts =
      reports_with({"--steps", "4", "--micro-batch", "2", "--accumulate", "4"}).back();
  EXPECT_EQ(*whole.samples, 4.0 * 8.0 * 32.0);
  EXPECT_EQ(*parts.samples, *whole.samples);
  EXPECT_NEAR(parts.metrics.at("loss"), whole.metrics.at("loss"), 1e-3);
}

TEST(CharGpt, Bf16IsCloseToFp32) {
  const double fp32 = reports_with({"--steps", "4"}).back().metrics.at("loss");
  const double bf16 =
      reports_with({"--steps", "4", "--precision", "bf16"}).back().metrics.at("loss");
  EXPECT_NE(bf16, fp32);
  EXPECT_NEAR(bf16, fp32, 0.05);
}

TEST(CharGpt, ReportsEvaluationsAndCheckpointsAsPhases) {
  const std::string file = testing::TempDir() + "/steptune-checkpoint-" + std::to_string(getpid());
  const auto reports =
      reports_with({"--steps", "6", "--evaluate-every", "2", "--evaluation-batches", "2",
                    "--checkpoint-every", "3", "--checkpoint", file});
  std::vector<std::string> ended;
  for (const Report& report : reports) {
    if (report.phase && report.phase->seconds) ended.push_back(report.phase->name);
  }
  EXPECT_THAT(ended, testing::ElementsAre("evaluation", "checkpoint", "evaluation", "evaluation",
                                          "checkpoint"));
  EXPECT_GT(reports.back().metrics.at("val_loss"), 1.0);
  EXPECT_GT(std::filesystem::file_size(file), 10'000U);
  std::filesystem::remove(file);
}

TEST(CharGpt, PrintsNoReportsOutsideATuner) {
  const Ended ended = run(command({"--steps", "2"}));
  EXPECT_EQ(ended.exit_status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("tokens/s"));
  EXPECT_THAT(ended.out, Not(HasSubstr("[steptune]")));
}

TEST(CharGpt, WrongOptionsAndTextsAreRefused) {
  const std::string empty = testing::TempDir() + "/steptune-empty-" + std::to_string(getpid());
  std::ofstream(empty).close();
  const auto fault = [](const std::vector<std::string>& options) {
    const Ended ended = run(command(options));
    EXPECT_EQ(ended.exit_status, 2) << testing::PrintToString(options);
    return ended.err;
  };
  EXPECT_THAT(fault({"--data", "/no/such/file"}), HasSubstr("/no/such/file"));
  EXPECT_THAT(fault({"--data", "/usr"}), HasSubstr("/usr"));
  EXPECT_THAT(fault({"--data", empty}), HasSubstr("too few"));
  EXPECT_THAT(fault({"--heads", "5"}), HasSubstr("multiple"));
  EXPECT_THAT(fault({"--precision", "int8"}), HasSubstr("--precision"));
  std::filesystem::remove(empty);
}

TEST(CharGpt, EndsOnSigterm) {
  Program program(command({"--steps", "100000000", "--threads", "2"}), false);
  program.read_until("tokens/s");
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().signal, SIGTERM);
}

}  // namespace

}  // namespace steptune::test
