// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/step_plot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

/// Returns ten slow steps of 1 s, then 80 of 0.25 s with a stall of 4 s in the middle.
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
         . start-up and warm-up   = measured window
         P phase
)");
}

/// The measurement contains the start-up of the program that the trial shares or was forked from.
TEST(StepPlot, AForkedTrialShowsItsWindowWhereItIs) {
  Measurement measurement;
  measurement.startup_s = 20.0;
  measurement.warmup_s = 10.0;
  measurement.window_s = 24.0;
  TrialTrace trace = stalling_trace();
  trace.spared_startup_s = 20.0;
  const std::string plot = step_plot(trace, measurement, 60);
  EXPECT_NE(plot.find("...............==================================="), std::string::npos)
      << plot;
}

std::vector<std::string> plot_lines(const TrialTrace& trace,
                                    const std::optional<Measurement>& measurement,
                                    std::size_t width) {
  std::istringstream text(step_plot(trace, measurement, width));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  return lines;
}

TEST(StepPlot, FitsEveryWidthWhateverTheStepsTake) {
  Measurement measurement;
  measurement.startup_s = 2.0;
  measurement.warmup_s = 1.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, "plot");
    TrialTrace trace;
    const double usual_s = std::pow(10.0, -4.0 + 9.0 * rng.uniform());
    double at_s = 0.0;
    for (int step = 1; step <= 30; ++step) {
      at_s += usual_s * (rng.below(5) == 0 ? 20.0 : 0.5 + rng.uniform());
      trace.progress.points.push_back({at_s, 8.0 * step, 1.0 * step});
    }
    measurement.window_s = 0.5 * at_s;
    trace.progress.phases = {{"evaluation", 0.7 * at_s, 0.8 * at_s}};
    trace.disturbed = {{0.85 * at_s, 0.9 * at_s, {}}};
    for (std::size_t width = 36; width <= 100; width += 1 + width / 8) {
      const auto lines = plot_lines(trace, measurement, width);
      ASSERT_GE(lines.size(), 8U) << "seed " << seed << ", width " << width;
      for (const std::string& line : lines)
        EXPECT_LE(line.size(), width) << line;
      const std::size_t margin = lines[7].find('0');
      for (std::size_t row = 0; row < 6; ++row)
        EXPECT_GE(lines[row].find('#'), margin) << "a column left of the time axis: " << lines[row];
      EXPECT_EQ(lines[6].size(), width) << "the ruler goes over the whole width";
      EXPECT_EQ(lines[7].size(), width) << "the time stands at the end of the ruler";
    }
  }
}

TEST(StepPlot, HigherColumnsAreSlowerSteps) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "heights");
    TrialTrace trace;
    double at_s = 0.0;
    trace.progress.points.push_back({0.0, 0.0, 0.0});
    const std::size_t columns = 40;
    std::vector<double> seconds;
    // One point per column, so each column shows one step's time.
    for (std::size_t i = 1; i <= columns; ++i) {
      const double steps = static_cast<double>(1 + rng.below(50));
      at_s += 1.0;
      trace.progress.points.push_back({at_s, 0.0, trace.progress.points.back().steps + steps});
      seconds.push_back(1.0 / steps);
    }
    const auto lines = plot_lines(trace, {}, columns + 9);
    std::vector<std::size_t> heights;
    for (std::size_t column = 0; column < columns; ++column) {
      std::size_t height = 0;
      bool below = true;
      for (std::size_t row = 6; row-- > 0;) {
        const std::size_t at = 9 + column;
        const bool filled = at < lines[row].size() && lines[row][at] == '#';
        EXPECT_TRUE(below || !filled) << "a gap in column " << column;
        below = filled;
        if (filled) ++height;
      }
      heights.push_back(height);
    }
    for (std::size_t a = 0; a < columns; ++a) {
      EXPECT_GE(heights[a], 1U);
      for (std::size_t b = 0; b < columns; ++b) {
        if (seconds[a] > seconds[b]) {
          EXPECT_GE(heights[a], heights[b]);
        }
      }
    }
    const auto slowest = std::ranges::max_element(seconds) - seconds.begin();
    EXPECT_EQ(heights[static_cast<std::size_t>(slowest)], 6U);
  }
}

TEST(StepPlot, WithoutAMeasuredWindowNoneIsMarked) {
  const auto lines = plot_lines(stalling_trace(), Measurement{}, 60);
  ASSERT_EQ(lines.size(), 8U) << "there is no legend";
  EXPECT_EQ(lines[6], std::string(60, ' '));
}

TEST(StepPlot, PointsWithoutTimeOrStepsDrawNothing) {
  TrialTrace trace;
  trace.progress.points = {{0.0, 0.0, 0.0}, {0.0, 8.0, 1.0}, {0.0, 16.0, 2.0}};
  EXPECT_EQ(step_plot(trace, {}, 60), "");
  trace.progress.points = {{1.0, 0.0, 1.0}, {2.0, 8.0, 1.0}, {3.0, 16.0, 1.0}};
  EXPECT_EQ(step_plot(trace, {}, 60), "") << "time passed, but no step ended";
}

TEST(StepPlot, TooLittleDataGivesNoPlot) {
  EXPECT_EQ(step_plot({}, {}, 60), "");
  TrialTrace two = stalling_trace();
  EXPECT_EQ(step_plot(two, {}, 35), "") << "too narrow";
  two.progress.points.resize(2);
  EXPECT_EQ(step_plot(two, {}, 60), "");
}

}  // namespace
}  // namespace steptune
