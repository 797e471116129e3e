// SPDX-License-Identifier: Apache-2.0
// Compares two ways to run trials: in one running program, in turns with the baseline; and each in
// a fresh process. Both run on the same simulated machine until their speed is known to +-5 %.
// Prints the durations and errors of the trials.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/rng.hpp"
#include "trial_runner/live/paired_blocks.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "tuner/loop/enough_measured.hpp"

namespace steptune {
namespace {

constexpr double k_step_s = 0.065;
constexpr double k_ratio = 0.9;
constexpr double k_samples_per_step = 64.0;
constexpr double k_target = 0.05;
/// Time of a step whose batch is ready, relative to an average step.
constexpr double k_share_of_ready = 0.02;
constexpr double k_report_s = 0.25;
constexpr int k_trials = 6;  ///< trials of a study
constexpr double k_least_observed_steps = 10.0, k_errors_apart = 4.0;
/// With --compare: step time of each trial of a study, relative to the baseline's.
constexpr std::array<double, k_trials> k_unlike{1.1, 0.9, 1.4, 0.95, 1.2, 0.85};

struct World {
  std::string name;
  double noise = 0.07;       ///< relative standard deviation of a step
  double correlation = 0.0;  ///< correlation of neighbouring steps' times
  /// Mean seconds from one load by other processes to the next (exponential).
  double load_every_s = 0.0;
  double load_s = 2.0;       ///< mean duration of such a load, in seconds (exponential)
  double load_ratio = 1.8;   ///< factor on the step time during such a load
  double wander = 0.0;       ///< standard deviation of the machine's log speed level
  double wander_s = 30.0;    ///< time constant of the level's correlation, in seconds
  double trial_noise = 0.0;  ///< extra standard deviation of the trial's steps
  /// The trial's batches arrive in groups of this size. One step of each group waits for the whole
  /// group.
  int batches_at_once = 1;
  int warm_up_steps = 2;  ///< steps of warm-up after each switch between trial and baseline
  double stall_every_steps = 0.0;  ///< steps of the trial between two stalls; 0: none
  double stall_steps = 0.0;        ///< length of a stall, in steps of the trial

  /// Returns the trial's relative step time, stalls included, if its other steps take `ratio`.
  [[nodiscard]] double with_stalls(double ratio) const {
    return ratio * (stall_every_steps > 0.0 ? 1.0 + stall_steps / stall_every_steps : 1.0);
  }
};

class Machine {
 public:
  Machine(const World& world, std::uint64_t seed)
      : world_(world), rng_(seed, "live_blocks"), wander_(rng_.normal()), noise_(rng_.normal()) {
    load_changes_s_ = exponential(world.load_every_s);
    since_stall_ = rng_.uniform() * world.stall_every_steps;
  }
  [[nodiscard]] double now_s() const { return now_s_; }
  void wait(double seconds) { pass(seconds * level()); }
  /// Sets the next trial's step time relative to the baseline's.
  void set_ratio(double ratio) { ratio_ = ratio; }
  void step(bool of_trial) {
    const double rho = world_.correlation;
    noise_ = rho * noise_ + std::sqrt(1.0 - rho * rho) * rng_.normal();
    double seconds = k_step_s * scattered(world_.noise, noise_);
    if (of_trial) seconds *= ratio_ * scattered(world_.trial_noise, rng_.normal());
    if (of_trial && world_.batches_at_once > 1) {
      const bool waits = ++trial_steps_ % world_.batches_at_once == 0;
      seconds *= waits ? world_.batches_at_once - k_share_of_ready * (world_.batches_at_once - 1)
                       : k_share_of_ready;
    }
    pass(seconds * level());
    if (!of_trial || world_.stall_every_steps <= 0.0) return;
    since_stall_ += 1.0;
    if (since_stall_ < world_.stall_every_steps) return;
    since_stall_ -= world_.stall_every_steps;
    pass(world_.stall_steps * ratio_ * k_step_s * level());
  }

 private:
  [[nodiscard]] static double scattered(double deviation, double normal) {
    return std::exp(deviation * normal - 0.5 * deviation * deviation);
  }
  double exponential(double mean) { return -mean * std::log(1.0 - rng_.uniform()); }
  [[nodiscard]] double level() const {
    return std::exp(world_.wander * wander_) * (is_loaded_ ? world_.load_ratio : 1.0);
  }
  void pass(double seconds) {
    now_s_ += seconds;
    while (world_.load_every_s > 0.0 && now_s_ > load_changes_s_) {
      is_loaded_ = !is_loaded_;
      load_changes_s_ += exponential(is_loaded_ ? world_.load_s : world_.load_every_s);
    }
    const double kept = std::exp(-seconds / world_.wander_s);
    wander_ = kept * wander_ + std::sqrt(1.0 - kept * kept) * rng_.normal();
  }

  World world_;
  Rng rng_;
  double wander_;
  double noise_;
  double now_s_ = 0.0;
  double load_changes_s_ = 0.0;
  bool is_loaded_ = false;
  double since_stall_ = 0.0;
  int trial_steps_ = 0;
  double ratio_ = k_ratio;
};

struct Trial {
  double seconds = 0.0;     ///< duration of the trial
  double rate = 0.0;        ///< seconds per sample
  double half_width = 0.0;  ///< half-width of the interval, relative to `rate`
};

Trial ended(const Machine& machine, double begun_s, const Measurement& measured) {
  return {machine.now_s() - begun_s, measured.seconds_per_sample, measured.relative_half_width()};
}

/// Returns a study's default targets for a trial, with this benchmark's precision.
MeasureSpec wanted_measure() {
  MeasureSpec wanted;
  wanted.target_half_width = k_target;
  return wanted;
}

/// True if the trial is measured precisely enough. `window`: factor on a study's least window; 0.5
/// for trials in turns, as in the tuner.
bool is_measured(const Measurement& measured, double window) {
  MeasureSpec wanted = wanted_measure();
  wanted.min_window_s *= window;
  wanted.min_window_steps = static_cast<int>(std::ceil(window * wanted.min_window_steps));
  return is_tight(measured, wanted);
}

/// True if the trial is known to be slower than `to_beat`. The tuner has the same rule
/// (baseline_comparison.cpp).
bool is_slower(const Measurement& measured, std::optional<double> to_beat, bool in_turns) {
  if (!to_beat || !std::isfinite(measured.half_width_s)) return false;
  const double rate = measured.seconds_per_sample;
  if (in_turns) return rate * std::exp(-measured.half_width_s / rate) > *to_beat;
  return measured.window_steps >= k_least_observed_steps &&
         measured.window_s >= wanted_measure().min_window_s &&
         rate - k_errors_apart / k_z_95 * measured.half_width_s > *to_beat;
}

Trial fresh_trial(Machine& machine, bool of_trial, double startup_s,
                  std::optional<double> to_beat = std::nullopt) {
  const double begun_s = machine.now_s();
  for (double waited_s = 0.0; waited_s < startup_s; waited_s += k_step_s)
    machine.wait(k_step_s);
  MeasureOptions options;
  options.started_s = begun_s;
  options.target_half_width = k_target;
  Measurer measurer(options);
  const double first_s = machine.now_s();
  double last_report_s = 0.0;
  for (double steps = 1.0; machine.now_s() < first_s + wanted_measure().max_trial_s; steps += 1.0) {
    machine.step(of_trial);
    if (machine.now_s() < last_report_s + k_report_s) continue;
    last_report_s = machine.now_s();
    Report report;
    report.step = steps;
    report.samples = k_samples_per_step * steps;
    report.received_s = last_report_s;
    report.clock_s = last_report_s;
    measurer.add(report);
    if (is_measured(measurer.current(), 1.0)) break;
    if (is_slower(measurer.current(), to_beat, false)) break;
  }
  return ended(machine, begun_s, measurer.current());
}

/// A running program that runs all trials of a study.
class LiveProgram {
 public:
  LiveProgram(Machine& machine, int warm_up_steps)
      : machine_(machine), warm_up_steps_(warm_up_steps) {}

  void measure_baseline() {
    blocks_.begin_alone(live::Alone::baseline);
    for (int i = 0; i < 40; ++i)
      static_cast<void>(step());
    blocks_.end_trial();
  }
  [[nodiscard]] Trial trial(std::optional<double> to_beat) {
    const double begun_s = machine_.now_s();
    MeasureOptions options;
    options.target_half_width = k_target;
    Measurer measurer(options);
    blocks_.begin_trial(k_step_s / k_samples_per_step);
    warm_up_ = warm_up_steps_;
    bool is_known = false;
    while (!is_known && machine_.now_s() < begun_s + 2.0 * wanted_measure().max_trial_s) {
      for (const Report& report : step())
        measurer.add(report);
      is_known =
          is_measured(measurer.current(), 0.5) || is_slower(measurer.current(), to_beat, true);
    }
    blocks_.end_trial();
    return ended(machine_, begun_s, measurer.current());
  }

 private:
  std::vector<Report> step() {
    machine_.step(blocks_.arm() == live::Arm::trial && !is_alone());
    live::LiveStep step;
    step.step = ++steps_;
    step.samples = k_samples_per_step * steps_;
    step.seconds = machine_.now_s();
    step.warm_up = warm_up_-- > 0;
    if (blocks_.add(step)) warm_up_ = warm_up_steps_;
    return blocks_.take();
  }
  [[nodiscard]] bool is_alone() const { return steps_ < 40.0; }

  Machine& machine_;
  int warm_up_steps_;
  live::PairedBlocks blocks_;
  double steps_ = 0.0;
  int warm_up_ = 0;
};

/// The fastest trial so far.
class Best {
 public:
  explicit Best(const Trial& first) : best_(first) {}
  void add(const Trial& trial) {
    if (trial.rate < best_.rate) best_ = trial;
  }
  [[nodiscard]] std::optional<double> to_beat(bool compares) const {
    return compares ? std::optional(best_.rate * (1.0 + best_.half_width)) : std::nullopt;
  }

 private:
  Trial best_;
};

struct Sums {
  double trials = 0.0, seconds = 0.0, error = 0.0, covered = 0.0;
  void add(const Trial& trial, double ratio, double half_width, double truth) {
    trials += 1.0;
    seconds += trial.seconds;
    error += std::abs(std::log(ratio / truth));
    covered += std::abs(truth / ratio - 1.0) <= half_width ? 1.0 : 0.0;
  }
  [[nodiscard]] std::string cells() const {
    return fmt::format("{:.1f} | {:.1f} % | {:.0f} %", seconds / trials, 100.0 * error / trials,
                       100.0 * covered / trials);
  }
};

void run(const World& world, double startup_s, int studies, int first_seed, bool compares) {
  Sums fresh, live;
  for (int study = 0; study < studies; ++study) {
    const auto seed = static_cast<std::uint64_t>(first_seed + study);
    Machine of_fresh(world, seed);
    const Trial baseline = fresh_trial(of_fresh, false, startup_s);
    Machine of_live(world, seed);
    LiveProgram program(of_live, world.warm_up_steps);
    program.measure_baseline();
    Best best_fresh(baseline), best_live({0.0, k_step_s / k_samples_per_step, 0.0});
    for (const double unlike : k_unlike) {
      const double ratio = compares ? unlike : k_ratio;
      const double truth = world.with_stalls(ratio);
      of_fresh.set_ratio(ratio);
      of_live.set_ratio(ratio);
      const Trial one = fresh_trial(of_fresh, true, startup_s, best_fresh.to_beat(compares));
      best_fresh.add(one);
      fresh.add(one, one.rate / baseline.rate, std::hypot(one.half_width, baseline.half_width),
                truth);
      const Trial other = program.trial(best_live.to_beat(compares));
      best_live.add(other);
      live.add(other, other.rate * k_samples_per_step / k_step_s, other.half_width, truth);
    }
  }
  fmt::print("| {} | {} | {} |\n", world.name, fresh.cells(), live.cells());
}

}  // namespace
}  // namespace steptune

int main(int argc, char** argv) {
  CLI::App app{"Simulated trials in one running program, beside those in fresh processes"};
  double startup_s = 1.1;
  int studies = 50, first_seed = 0;
  app.add_option("--startup", startup_s, "seconds that a fresh process takes to its first step");
  app.add_option("--studies", studies, "number of studies, with six trials each");
  bool compares = false;
  app.add_flag(
      "--compare", compares,
      "configurations differ, and trials end once they are known to be slower than the best one");
  std::string only;
  app.add_option("--machine", only, "only simulated machines whose name contains this");
  app.add_option("--first-seed", first_seed, "seed of the first study; each further study adds 1");
  CLI11_PARSE(app, argc, argv);
  using steptune::World;
  const std::vector<World> worlds{
      {.name = "steps scatter by 3 %", .noise = 0.03},
      {.name = "steps scatter by 7 %"},
      {.name = "steps scatter by 12 %", .noise = 0.12},
      {.name = "steps scatter by 7 %, correlated by 0.6", .correlation = 0.6},
      {.name = "others' load for 2 s every 15 s", .load_every_s = 15.0},
      {.name = "others' load for 2 s every 6 s", .load_every_s = 6.0},
      {.name = "level wanders by 10 % in 30 s", .wander = 0.1},
      {.name = "level wanders by 10 % in 5 s", .wander = 0.1, .wander_s = 5.0},
      {.name = "the trial's steps scatter by 21 %", .trial_noise = 0.2},
      {.name = "the trial's steps scatter by 35 %, the baseline's by 4 %",
       .noise = 0.04,
       .trial_noise = 0.35},
      {.name = "steps scatter by 25 %", .noise = 0.25},
      {.name = "batches come two at once", .batches_at_once = 2},
      {.name = "batches come four at once, 8 steps of warm-up",
       .batches_at_once = 4,
       .warm_up_steps = 8},
      {.name = "6 steps of warm-up", .warm_up_steps = 6},
      {.name = "18 steps of warm-up", .warm_up_steps = 18},
      {.name = "the trial stalls for 4 steps every 16 steps",
       .stall_every_steps = 16.0,
       .stall_steps = 4.0},
      {.name = "the trial stalls for 4 steps every 32 steps",
       .stall_every_steps = 32.0,
       .stall_steps = 4.0},
  };
  fmt::print(
      "| machine | fresh: s | error | covered | in turns: s | error | covered "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const World& world : worlds) {
    if (world.name.find(only) == std::string::npos) continue;
    steptune::run(world, startup_s, studies, first_seed, compares);
  }
  return 0;
}
