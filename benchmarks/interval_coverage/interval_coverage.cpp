// SPDX-License-Identifier: Apache-2.0
// How often the interval of a trial that ended as soon as it was tight holds the truth.
#include <cmath>
#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/rng.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/step_times.hpp"
#include "tuner/loop/running_trial.hpp"

namespace steptune {
namespace {

struct Options {
  int seeds = 500;
  int every = 1;
  double warmup_steps = 5.0;
  MeasureSpec measure;
};

constexpr double k_step_s = 0.1;
constexpr int k_max_steps = 1500;

struct Ended {
  int steps = 0;
  bool covered = false;
};

Ended run_trial(const Options& options, const StepNoise& noise, std::uint64_t seed) {
  Rng rng(seed, "interval_coverage");
  StepTimes step_times(noise, rng);
  Measurer measurer({});
  Report report;
  int steps = 0;
  while (steps + options.every <= k_max_steps && !is_tight(measurer.current(), options.measure)) {
    steps += options.every;
    report.step = steps;
    report.received_s += k_step_s * step_times.take(options.every, rng);
    measurer.add(report);
  }
  const bool tight = is_tight(measurer.current(), options.measure);
  const Measurement m = tight ? as_ended(measurer.current()) : measurer.current();
  return {steps, std::abs(m.seconds_per_sample - k_step_s) <= m.half_width_s};
}

void print_share(const Options& options, const StepNoise& noise) {
  int covered = 0;
  double steps = 0.0;
  for (int seed = 0; seed < options.seeds; ++seed) {
    const Ended ended = run_trial(options, noise, static_cast<std::uint64_t>(seed));
    covered += ended.covered ? 1 : 0;
    steps += ended.steps;
  }
  fmt::print("{:>9.1f} % {:>12.1f} {:>9.2f} {:>9.0f}\n", 100.0 * noise.step, noise.correlation,
             covered / static_cast<double>(options.seeds), steps / options.seeds);
}

}  // namespace
}  // namespace steptune

int main(int argc, char** argv) {
  steptune::Options options;
  CLI::App app{"Share of the 95 % intervals that hold the truth when a trial ends by itself"};
  app.add_option("--seeds", options.seeds, "Trials of each kind")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--every", options.every, "Steps between two reports")
      ->check(CLI::Range(1, steptune::k_max_steps))
      ->capture_default_str();
  app.add_option("--warmup-steps", options.warmup_steps,
                 "E-fold of the slowness, which doubles the first step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--half-width", options.measure.target_half_width, "As in `measure`")
      ->check(CLI::Range(0.0001, 0.5))
      ->capture_default_str();
  app.add_option("--min-window-steps", options.measure.min_window_steps, "As in `measure`")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:>11} {:>12} {:>9} {:>9}\n", "deviation", "correlation", "covered", "steps");
  for (const double deviation : {0.005, 0.02, 0.05, 0.1}) {
    for (const double correlation : {0.0, 0.3, 0.5, 0.7, 0.9}) {
      steptune::print_share(
          options,
          {.step = deviation, .correlation = correlation, .warmup_steps = options.warmup_steps});
    }
  }
  return 0;
}
