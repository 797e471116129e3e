// SPDX-License-Identifier: Apache-2.0
//
// Tests that the reader finds the true seconds per step of trainers with a known speed.
#include <optional>

#include <gtest/gtest.h>

#include "tests/support/trainer_outputs.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

struct Speed {
  double train_s = 0.0;
  double average_s = 0.0;
};

/// Returns the seconds per step between the report in the middle of the output and the last one.
Speed speed_of(const TrainerOutput& output) {
  ReportFormat format;
  format.preset = output.format;
  ReportReader reader = ReportReader::create(format).value();
  const double middle_s = output.lines.back().time_s / 2.0;
  std::optional<double> first_step, phase_begin_s;
  double first_s = 0.0, step = 0.0, last_s = 0.0, phases_s = 0.0;
  for (const auto& [time_s, line] : output.lines) {
    const auto report = reader.read_line(line, time_s);
    if (!report || time_s < middle_s) continue;
    if (report->step) {
      if (!first_step) {
        first_step = report->step;
        first_s = time_s;
      }
      // If a phase has no end, the steps of the next counter are part of its time.
      if (phase_begin_s) phases_s += time_s - *phase_begin_s - output.train_s;
      phase_begin_s.reset();
      step = *report->step;
      last_s = time_s;
    }
    if (!report->phase) continue;
    if (report->phase->seconds) {
      phases_s += *report->phase->seconds;
      phase_begin_s.reset();
    } else if (!phase_begin_s) {
      phase_begin_s = time_s;
    }
  }
  const double steps = step - first_step.value_or(0.0);
  return {(last_s - first_s - phases_s) / steps, (last_s - first_s) / steps};
}

TEST(TrainerSpeed, IsTheTrueOne) {
  for (const TrainerOutput& output : trainer_outputs()) {
    SCOPED_TRACE(output.name);
    const Speed speed = speed_of(output);
    EXPECT_NEAR(speed.average_s / output.average_s, 1.0, 0.06);
    EXPECT_NEAR(speed.train_s / output.train_s, 1.0, 0.06);
  }
}

}  // namespace
}  // namespace steptune
