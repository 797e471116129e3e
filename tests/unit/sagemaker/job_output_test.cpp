// SPDX-License-Identifier: Apache-2.0
//
// Tests the output of a job's hosts: what is kept, how reports are read, and which host's reports
// count.
#include "trial_runner/sagemaker/job_output.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

std::string report_line(double samples, const std::string& more = "") {
  return fmt::format("[steptune] {{\"v\":1,\"samples\":{}{}}}", samples, more);
}

class JobOutputTest : public testing::Test {
 protected:
  JobOutput& output() {
    if (!output_) {
      auto created = JobOutput::create(spec_);
      EXPECT_TRUE(created) << created.error().text();
      output_.emplace(*std::move(created));
    }
    return *output_;
  }
  std::optional<Report> read(const std::string& host, const std::string& text,
                             double time_s = 1.0) {
    return output().read_line(time_s, {"job", host, 0.0, text});
  }

  TemporaryFolder folder_{"job-output"};
  TrialSpec spec_;

 private:
  std::optional<JobOutput> output_;
};

TEST_F(JobOutputTest, IsKeptInTheTrialsLogLineByLine) {
  spec_.log_path = folder_.path() / "log";
  EXPECT_FALSE(read("algo-1", "hello"));
  EXPECT_FALSE(read("algo-2", "world"));
  output().finish();
  EXPECT_EQ(read_file(spec_.log_path), "hello\nworld\n");
  EXPECT_EQ(output().tail().text(), "hello\nworld\n");
}

TEST_F(JobOutputTest, AnUnwritableLogIsReportedBeforeTheJob) {
  spec_.log_path = folder_.path() / "missing" / "log";
  const auto created = JobOutput::create(spec_);
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().text(), HasSubstr(spec_.log_path.string()));
}

TEST_F(JobOutputTest, AnInvalidFormatIsReportedToo) {
  spec_.report_format.metrics = {{"loss", "loss=(["}};
  EXPECT_FALSE(JobOutput::create(spec_));
}

TEST_F(JobOutputTest, RefusedLinesAreReported) {
  EXPECT_TRUE(read("algo-1", report_line(10.0)));
  EXPECT_EQ(output().faults(), "");
  EXPECT_FALSE(read("algo-2", "[steptune] {\"v\":2}"));
  EXPECT_THAT(output().faults(), HasSubstr("the first: \"v\" is 2"));
}

TEST_F(JobOutputTest, HookEventsOfEveryHostAreRead) {
  const char* refusal =
      R"([steptune] {"v":1,"hook":{"event":"knob","knob":"num_workers","may":false,"rank":8}})";
  const auto refusal_report = read("algo-2", refusal);
  ASSERT_TRUE(refusal_report);
  EXPECT_EQ(refusal_report->hook_events.size(), 1U);
  EXPECT_TRUE(read("algo-1", report_line(10.0)));
  EXPECT_TRUE(read("algo-2", refusal));
  EXPECT_FALSE(read("algo-2", report_line(10.0)));
}

TEST_F(JobOutputTest, TheFirstHostThatReportsIsUsed) {
  EXPECT_FALSE(read("algo-1", "starting"));
  const auto first = read("algo-2", report_line(10.0), 5.0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->samples, 10.0);
  EXPECT_EQ(first->received_s, 5.0);
  EXPECT_FALSE(read("algo-1", report_line(10.0))) << "the same progress";
  EXPECT_TRUE(read("algo-2", report_line(20.0)));
}

TEST_F(JobOutputTest, AllHostsWithARankAreUsed) {
  EXPECT_TRUE(read("algo-1", report_line(10.0, ",\"global_rank\":0")));
  const auto second = read("algo-2", report_line(10.0, ",\"global_rank\":1"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->global_rank, 1);
}

TEST_F(JobOutputTest, MemoryErrorsBeforeProgressAreIgnored) {
  EXPECT_FALSE(read("algo-1", "CUDA out of memory, trying half"));
  for (double samples = 10.0; samples < 60.0; samples += 10.0)
    EXPECT_TRUE(read("algo-1", report_line(samples)));
  EXPECT_THAT(std::string(output().tail().since_progress()), testing::Not(HasSubstr("CUDA")));
  EXPECT_FALSE(read("algo-1", "CUDA out of memory"));
  EXPECT_THAT(std::string(output().tail().since_progress()), HasSubstr("CUDA"));
}

TEST_F(JobOutputTest, APhaseComesFromTheHostWhoseReportsCount) {
  EXPECT_FALSE(output().phase_under_way()) << "no host has reported";
  EXPECT_TRUE(read("algo-1", report_line(10.0)));
  (void)read("algo-2", R"([steptune] {"v":1,"phase":"evaluation"})");
  EXPECT_FALSE(output().phase_under_way());
  (void)read("algo-1", R"([steptune] {"v":1,"phase":"evaluation"})");
  EXPECT_TRUE(output().phase_under_way());
}

}  // namespace
}  // namespace steptune
