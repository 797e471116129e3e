// SPDX-License-Identifier: Apache-2.0
// Tests that the simulator's programs have the long-run speed that they claim.
#include "benchmarks/stream_accuracy/training_stream.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <gtest/gtest.h>

#include "benchmarks/stream_accuracy/stream_cells.hpp"
#include "benchmarks/stream_accuracy/watched_cpu.hpp"

namespace steptune {

void PrintTo(const StreamCell& cell, std::ostream* out) {
  *out << cell.name;
}

namespace {

class EveryProgram : public testing::TestWithParam<StreamCell> {};

std::string test_name(const testing::TestParamInfo<StreamCell>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

TEST_P(EveryProgram, HasTheSpeedThatItClaims) {
  SimulatedProgram program = GetParam().program;
  if (std::isnan(program.truth_s())) GTEST_SKIP() << "drifts";
  constexpr double k_begin = 2'000.0, k_end = 62'000.0;
  TrainingStream stream(program, 11);
  double begin_s = 0.0, begin_samples = 0.0, samples = 0.0;
  while (samples < k_end) {
    const Report report = stream.next();
    if (!report.samples) continue;
    samples = *report.samples;
    if (samples > k_begin && begin_samples == 0.0) {
      begin_samples = samples;
      begin_s = report.received_s;
    }
  }
  const double measured_s = (stream.now_s() - begin_s) / (samples - begin_samples);
  const double truth_s =
      program.truth_s() + (stream.launch_factor() - 1.0) * program.step_truth_s();
  EXPECT_NEAR(measured_s / truth_s, 1.0, 0.006);
}

INSTANTIATE_TEST_SUITE_P(First, EveryProgram, testing::ValuesIn(stream_cells(CellFamily::first)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Second, EveryProgram, testing::ValuesIn(stream_cells(CellFamily::second)),
                         test_name);

TEST(TrainingStream, IsTheSameForTheSameSeed) {
  const SimulatedProgram program;
  TrainingStream first(program, 3), second(program, 3), other(program, 4);
  double last_s = 0.0, other_s = 0.0;
  for (int i = 0; i < 100; ++i) {
    last_s = first.next().received_s;
    EXPECT_EQ(second.next().received_s, last_s);
    other_s = other.next().received_s;
  }
  EXPECT_NE(other_s, last_s);
}

TEST(TrainingStream, AFullQueueHidesASlowLoaderUntilItHasDrained) {
  SimulatedProgram program;
  program.noise = 0.0;
  program.queue_batches = 64.0;
  program.loader_ratio = 2.0;
  program.startup_s = 60.0;
  TrainingStream stream(program, 1);
  double before_s = stream.next().received_s;
  int fast = 0;
  for (int i = 0; i < 300; ++i) {
    const double now_s = stream.next().received_s;
    fast += now_s - before_s < 1.5 * program.step_s ? 1 : 0;
    before_s = now_s;
  }
  // One batch is loaded while two are consumed.
  EXPECT_NEAR(fast, 2 * 64, 3);
}

TEST(TrainingStream, AnEndedProgramHasAllStepsHoweverItFlushes) {
  SimulatedProgram program;
  program.ends_after_steps = 20.0;
  for (const double flush_steps : {0.0, 15.0}) {
    program.flush_steps = flush_steps;
    TrainingStream stream(program, 1);
    int reports = 0;
    double last_step = 0.0, before_s = 0.0;
    int together = 0;
    while (!stream.is_over()) {
      const Report report = stream.next();
      ++reports;
      last_step = *report.step;
      together += report.received_s == before_s ? 1 : 0;
      before_s = report.received_s;
    }
    EXPECT_EQ(reports, 20);
    EXPECT_EQ(last_step, 20.0);
    EXPECT_EQ(together, flush_steps > 0.0 ? 14 + 4 : 0);
    EXPECT_EQ(before_s, stream.now_s());
  }
}

SimulatedProgram disturbed_program(double ratio, bool shows) {
  SimulatedProgram program;
  program.disturbed_after_s = 15.0;
  program.disturbed_s = 60.0;
  program.disturbed_ratio = ratio;
  program.disturber_shows = shows;
  return program;
}

TEST(WatchedCpu, CountsSecondsAboveTheRunnersThreshold) {
  const auto disturbed_s = [](const SimulatedProgram& program) {
    WatchedCpu cpu(program, 7);
    cpu.advance(200.0);
    return cpu.disturbed_s();
  };
  // The system's own processes make one or two of the quiet 140 s look disturbed.
  EXPECT_NEAR(disturbed_s(disturbed_program(1.3, true)), 60.0, 4.0);
  EXPECT_LT(disturbed_s(disturbed_program(1.3, false)), 8.0) << "the disturbance does not show";
  EXPECT_LT(disturbed_s(disturbed_program(1.03, true)), 20.0) << "a tenth of the CPU is the least";
}

}  // namespace
}  // namespace steptune
