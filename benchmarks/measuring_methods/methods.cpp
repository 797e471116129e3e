// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/measuring_methods/methods.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "benchmarks/null_studies/neighbours.hpp"
#include "benchmarks/simulated_launches.hpp"
#include "common/enum_names.hpp"
#include "common/rng.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "trial_runner/measure/ratio_in_turns.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/turn_rules.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune::measuring_methods {
namespace {

constexpr auto k_method_names = enum_names<Method>({
    {Method::hyperfine_printed, "hyperfine, printed"},
    {Method::hyperfine, "hyperfine, 95 %"},
    {Method::google_benchmark, "Google Benchmark"},
    {Method::duet, "duet"},
    {Method::one_by_one, "Steptune, one by one"},
    {Method::in_turns, "Steptune, in turns"},
});

/// Steps of a command under hyperfine.
constexpr int k_command_steps = 40;
/// Steps of a repetition of Google Benchmark, and of a sample of duet benchmarking. They take half
/// a second, the least time of a repetition of Google Benchmark.
constexpr int k_sample_steps = 10;
constexpr double k_least_duet_samples_s = 2.0;
constexpr std::size_t k_resamples = 500;
/// Turns of a run: its window lasts two seconds, twice `measure.min_window`.
constexpr std::size_t k_turns = 8;

/// Launch of a command. A launch is slower or faster than usual from its start to its end.
struct Launch {
  double slowness = 1.0;  ///< factor on A's usual times
};

/// Machine on which commands run, and its clock.
class Machine {
 public:
  explicit Machine(const Model& model)
      : model_(model),
        neighbours_(model.neighbours, model.neighbour_slowness, model.seed),
        rng_(model.seed, "measuring methods") {}

  [[nodiscard]] double now_s() const { return now_s_; }
  [[nodiscard]] Rng& rng() { return rng_; }
  [[nodiscard]] Launch draw_launch(double speed) {
    return {std::exp(model_.launch_variation * rng_.normal()) / speed};
  }
  /// Returns the end of a start that begins now.
  [[nodiscard]] double end_of_start(const Launch& launch) {
    return neighbours_.end_of(now_s_, model_.startup_s * launch.slowness);
  }
  /// Returns the end of `steps` steps that begin now.
  [[nodiscard]] double end_of_steps(const Launch& launch, int steps) {
    double end_s = now_s_;
    for (int step = 0; step < steps; ++step) {
      const double luck = std::exp(model_.step_variation * rng_.normal());
      end_s = neighbours_.end_of(end_s, model_.step_s * launch.slowness * luck);
    }
    return end_s;
  }
  void wait_until(double time_s) { now_s_ = time_s; }
  void start(const Launch& launch) { wait_until(end_of_start(launch)); }
  /// Runs `steps` steps and returns their seconds.
  double run(const Launch& launch, int steps) {
    const double from_s = now_s_;
    wait_until(end_of_steps(launch, steps));
    return now_s_ - from_s;
  }

 private:
  const Model& model_;
  null_studies::Neighbours neighbours_;
  Rng rng_;
  double now_s_ = 0.0;
};

struct MeanTime {
  double mean_s = 0.0;
  double deviation_s = 0.0;  ///< standard deviation
  double count = 0.0;
};

MeanTime mean_of(const std::vector<double>& times_s) {
  MeanTime result;
  result.count = static_cast<double>(times_s.size());
  for (const double time_s : times_s)
    result.mean_s += time_s / result.count;
  for (const double time_s : times_s)
    result.deviation_s += std::pow(time_s - result.mean_s, 2) / (result.count - 1.0);
  result.deviation_s = std::sqrt(result.deviation_s);
  return result;
}

Estimate with_error(const MeanTime& a, const MeanTime& b, double relative_error) {
  const double ratio = a.mean_s / b.mean_s;
  return {ratio, ratio * (1.0 - relative_error), ratio * (1.0 + relative_error)};
}

/// Returns the ratio of the means with its 95 % interval, by error propagation.
Estimate ratio_of_means(const std::vector<double>& of_a, const std::vector<double>& of_b) {
  if (of_a.size() < 2 || of_b.size() < 2) return {};
  const MeanTime a = mean_of(of_a);
  const MeanTime b = mean_of(of_b);
  const double error = std::hypot(a.deviation_s / a.mean_s / std::sqrt(a.count),
                                  b.deviation_s / b.mean_s / std::sqrt(b.count));
  return with_error(a, b, student_quantile_95(a.count + b.count - 2.0) * error);
}

/// Returns the times of whole commands that run one after the other until `end_s`.
std::vector<double> command_times_s(Machine& machine, double speed, double end_s) {
  std::vector<double> times_s;
  while (times_s.size() < 2 || machine.now_s() + times_s.back() <= end_s) {
    const double from_s = machine.now_s();
    const Launch launch = machine.draw_launch(speed);
    machine.start(launch);
    machine.run(launch, k_command_steps);
    times_s.push_back(machine.now_s() - from_s);
  }
  return times_s;
}

Estimate by_hyperfine(const Model& model, bool as_printed) {
  Machine machine(model);
  const std::vector<double> of_a = command_times_s(machine, 1.0, 0.5 * model.time_s);
  const std::vector<double> of_b = command_times_s(machine, model.ratio, model.time_s);
  if (!as_printed) return ratio_of_means(of_a, of_b);
  const MeanTime a = mean_of(of_a);
  const MeanTime b = mean_of(of_b);
  return with_error(a, b, std::hypot(a.deviation_s / a.mean_s, b.deviation_s / b.mean_s));
}

Estimate by_google_benchmark(const Model& model) {
  Machine machine(model);
  const Launch a = machine.draw_launch(1.0);
  const Launch b = machine.draw_launch(model.ratio);
  machine.start(a);
  machine.start(b);
  std::vector<double> of_a;
  std::vector<double> of_b;
  while (machine.now_s() < model.time_s) {
    const bool is_a = machine.rng().below(2) == 0;
    (is_a ? of_a : of_b).push_back(machine.run(is_a ? a : b, k_sample_steps));
  }
  return ratio_of_means(of_a, of_b);
}

/// Log ratios of the simultaneous samples of each launch.
using DuetSamples = std::vector<std::vector<double>>;

DuetSamples duet_samples(const Model& model, Machine& machine) {
  DuetSamples launches;
  while (machine.now_s() + model.startup_s + k_least_duet_samples_s <= model.time_s) {
    const double end_s = std::min(machine.now_s() + model.duet_launch_s, model.time_s);
    const Launch a = machine.draw_launch(1.0);
    const Launch b = machine.draw_launch(model.ratio);
    machine.wait_until(std::max(machine.end_of_start(a), machine.end_of_start(b)));
    std::vector<double> samples;
    while (samples.empty() || machine.now_s() < end_s) {
      const double from_s = machine.now_s();
      const double of_a_s = machine.end_of_steps(a, k_sample_steps);
      const double of_b_s = machine.end_of_steps(b, k_sample_steps);
      samples.push_back(std::log((of_a_s - from_s) / (of_b_s - from_s)));
      machine.wait_until(std::max(of_a_s, of_b_s));
    }
    launches.push_back(std::move(samples));
  }
  return launches;
}

double mean_of_all(const DuetSamples& launches) {
  double sum = 0.0;
  double count = 0.0;
  for (const std::vector<double>& samples : launches) {
    for (const double sample : samples)
      sum += sample;
    count += static_cast<double>(samples.size());
  }
  return sum / count;
}

/// Returns the mean of a bootstrap sample: draws launches with replacement, then samples of each
/// drawn launch.
double resampled_mean(const DuetSamples& launches, Rng& rng) {
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::vector<double>& samples = launches[rng.below(launches.size())];
    for (std::size_t j = 0; j < samples.size(); ++j)
      sum += samples[rng.below(samples.size())];
    count += static_cast<double>(samples.size());
  }
  return sum / count;
}

Estimate by_duet(const Model& model) {
  Machine machine(model);
  const DuetSamples launches = duet_samples(model, machine);
  if (launches.empty()) return {};
  std::vector<double> means;
  for (std::size_t i = 0; i < k_resamples; ++i)
    means.push_back(resampled_mean(launches, machine.rng()));
  std::ranges::sort(means);
  const std::size_t tail = k_resamples / 40;  // 2.5 %
  return {std::exp(mean_of_all(launches)), std::exp(means[tail]),
          std::exp(means[k_resamples - 1 - tail])};
}

/// Run of one command in a pair.
struct Run {
  explicit Run(const Launch& begun) : launch(begun) {}
  Launch launch;
  std::vector<Interval> ends{};  ///< steps and seconds of the run until the end of each turn
};

void take_turn(Machine& machine, Run& run) {
  Interval end = run.ends.empty() ? Interval{} : run.ends.back();
  const double from_s = machine.now_s();
  while (machine.now_s() - from_s < k_turn_s) {
    machine.run(run.launch, 1);
    end.samples += 1.0;
  }
  end.seconds += machine.now_s() - from_s;
  run.ends.push_back(end);
}

void run_pair(Machine& machine, const std::array<Run*, 2>& order, bool in_turns) {
  if (in_turns) {
    for (const Run* run : order)
      machine.start(run->launch);
    for (std::size_t turn = 0; turn < k_turns; ++turn) {
      for (Run* run : order)
        take_turn(machine, *run);
    }
    return;
  }
  for (Run* run : order) {
    machine.start(run->launch);
    for (std::size_t turn = 0; turn < k_turns; ++turn)
      take_turn(machine, *run);
  }
}

/// Returns the record of a run, from the turns after its warm-up.
TrialRecord record_of(const Run& run) {
  constexpr std::size_t k_warmup = k_turns / k_warmup_divisor_in_turns;
  std::vector<double> times_s;
  for (std::size_t turn = k_warmup; turn < run.ends.size(); ++turn) {
    times_s.push_back((run.ends[turn].seconds - run.ends[turn - 1].seconds) /
                      (run.ends[turn].samples - run.ends[turn - 1].samples));
  }
  const MeanTime of_turns = mean_of(times_s);
  const Interval& begin = run.ends[k_warmup - 1];
  const Interval& end = run.ends.back();
  TrialRecord record;
  record.status = TrialStatus::completed;
  record.objectives = {(end.seconds - begin.seconds) / (end.samples - begin.samples)};
  record.standard_errors = {of_turns.deviation_s / std::sqrt(of_turns.count)};
  return record;
}

/// Records that both runs took turns, as the loop does (`ended_record`). `is_disturbed`: Steptune
/// sees that other programs use the machine.
void set_in_turns(TrialRecord& a, TrialRecord& b, double ratio_error, bool is_disturbed) {
  for (TrialRecord* record : {&a, &b}) {
    record->placement.emplace(k_interleaved_fact, "1");
    record->ended_wall_s = record->started_wall_s + 1.0;
    record->disturbed_s = is_disturbed ? 1.0 : 0.0;
    Measurement& measurement = record->measurement.emplace();
    measurement.status = MeasurementStatus::steady;
    measurement.seconds_per_sample = record->objectives[0];
    measurement.half_width_s = 0.0;
    measurement.step_half_width_s = 0.0;
  }
  b.measurement->ratio_error = ratio_error;
}

/// Simulates rounds of one pair each, in the order A B B A. Returns the interval that `judge`
/// prints.
Estimate by_steptune(const Model& model, bool in_turns) {
  Machine machine(model);
  std::deque<TrialRecord> records;
  std::vector<RunPair> pairs;
  double round_s = 0.0;
  while (pairs.size() < 2 || machine.now_s() + round_s <= model.time_s) {
    const double from_s = machine.now_s();
    Run a(machine.draw_launch(1.0));
    Run b(machine.draw_launch(model.ratio));
    const bool is_a_first = pairs.size() % 2 == 0;
    run_pair(machine, is_a_first ? std::array{&a, &b} : std::array{&b, &a}, in_turns);
    round_s = machine.now_s() - from_s;
    TrialRecord& of_a = records.emplace_back(record_of(a));
    TrialRecord& of_b = records.emplace_back(record_of(b));
    const auto ratio = ratio_in_turns(b.ends, a.ends);
    if (in_turns && ratio) set_in_turns(of_a, of_b, ratio->relative_error, model.neighbours > 0);
    pairs.push_back({&of_b, &of_a});
  }
  const SpeedUp speed_up =
      judge(judged_study(), pairs, k_one_sided_error, k_launches_by_pairs, true).speed_up;
  return {speed_up.ratio, speed_up.low, speed_up.high};
}

}  // namespace

std::string to_text(Method method) {
  return std::string(k_method_names.name_of(method));
}

Estimate compare(Method method, const Model& model) {
  switch (method) {
    case Method::hyperfine_printed:
      return by_hyperfine(model, true);
    case Method::hyperfine:
      return by_hyperfine(model, false);
    case Method::google_benchmark:
      return by_google_benchmark(model);
    case Method::duet:
      return by_duet(model);
    case Method::one_by_one:
      return by_steptune(model, false);
    case Method::in_turns:
      return by_steptune(model, true);
  }
  return {};
}

}  // namespace steptune::measuring_methods
