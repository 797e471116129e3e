// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/step_plot.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

/// Ten slow steps of 1 s, then 80 of 0.25 s with a stall of 4 s in their middle.
TrialTrace stalling_trace() {
  TrialTrace trace;
  double at_s = 0.0;
  for (int step = 1; step <= 90; ++step) {
    at_s += step <= 10 ? 1.0 : 0.25;
    if (step == 50) at_s += 4.0;
    trace.progress.points.push_back({at_s, 32.0 * step, 1.0 * step});
  }
  return trace;
}

TEST(StepPlot, ShowsWarmUpStallAndWindow) {
  Measurement measurement;
  measurement.startup_s = 1.0;
  measurement.warmup_s = 9.0;
  measurement.window_s = 24.0;
  TrialTrace trace = stalling_trace();
  trace.progress.phases = {{"evaluation", 30.0, 31.0}};
  EXPECT_EQ(step_plot(trace, measurement, 60),
            R"(   4.2 s                               ######
                                       ######
                                      #######
          ##############              #######
          ##############              #######
  250 ms  ##################################################
         ...............==============================PP====
         0                                            34.0 s
         . start-up and warm-up   = measured window   P phase
)");
}

TEST(StepPlot, OfTooLittleIsNothing) {
  EXPECT_EQ(step_plot({}, {}, 60), "");
  TrialTrace two = stalling_trace();
  EXPECT_EQ(step_plot(two, {}, 10), "") << "too narrow";
  two.progress.points.resize(2);
  EXPECT_EQ(step_plot(two, {}, 60), "");
}

}  // namespace
}  // namespace steptune
