// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/stream_accuracy/stream_trial.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "benchmarks/stream_accuracy/watched_cpu.hpp"
#include "common/median.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/measure/usual_noise.hpp"
#include "tuner/loop/enough_measured.hpp"
#include "tuner/loop/trial_targets.hpp"
#include "tuner/verdict/disturbed_runs.hpp"

namespace steptune {
namespace {

struct NaiveInterval {
  double samples = 0.0;
  double seconds = 0.0;
};

constexpr double k_tqdm_smoothing = 0.3;
constexpr std::size_t k_skipped = 5;  ///< intervals that the rule `skip_5_s` leaves out
/// A stall counts as rare if there are more steps than this between stalls. A more frequent stall
/// counts as part of the steps.
constexpr double k_rare_steps = 30.0;
/// Distance between seeds, so that earlier trials share no seed with the judged ones.
constexpr std::uint64_t k_seeds_apart = std::uint64_t{1} << 40;

double mean_of(const std::vector<NaiveInterval>& intervals, std::size_t begin, std::size_t end) {
  if (begin >= end || end > intervals.size()) return k_nan;
  NaiveInterval sum;
  for (std::size_t i = begin; i < end; ++i) {
    sum.samples += intervals[i].samples;
    sum.seconds += intervals[i].seconds;
  }
  return sum.seconds / sum.samples;
}

double median_of(const std::vector<NaiveInterval>& intervals) {
  if (intervals.empty()) return k_nan;
  std::vector<double> rates;
  for (const NaiveInterval& interval : intervals)
    rates.push_back(interval.seconds / interval.samples);
  return *median(std::move(rates));
}

/// Returns the rate as tqdm/std.py computes it: smooths the step count and the time between
/// refreshes separately. Leaves out tqdm's correction of their start, which cancels in the ratio.
double tqdm_of(const std::vector<NaiveInterval>& intervals) {
  double samples = 0.0, seconds = 0.0;
  for (const NaiveInterval& interval : intervals) {
    samples += k_tqdm_smoothing * (interval.samples - samples);
    seconds += k_tqdm_smoothing * (interval.seconds - seconds);
  }
  return samples > 0.0 ? seconds / samples : k_nan;
}

NaiveRules naive_rules(const std::vector<NaiveInterval>& intervals) {
  // Intervals start at the first report, which is the end of the first step.
  return {mean_of(intervals, 1, 4), mean_of(intervals, k_skipped, intervals.size()),
          median_of(intervals), tqdm_of(intervals)};
}

/// Returns the targets that the tuning loop would set for such a trial.
TrialTargets targets_of(const StopRule& rule) {
  TrialTargets targets;
  targets.measure.target_half_width = rule.target_half_width;
  targets.measure.min_window_s = rule.min_window_s;
  targets.measure.min_window_steps = rule.min_window_steps;
  if (rule.measures_longer) measure_longer(targets);
  return targets;
}

bool is_tight_enough(const Measurement& m, const TrialTargets& targets, const StopRule& rule) {
  return is_tight(m, targets.measure) && was_observed_for_long(m, targets) &&
         m.slowest_seconds_per_sample <= (1.0 + rule.most_hidden) * m.seconds_per_sample;
}

/// Returns the record of a launch as the tuning loop makes it, with only the times that are needed
/// here.
TrialRecord record_of(const WatchedCpu& cpu, double end_s) {
  TrialRecord record;
  record.ended_wall_s = end_s;
  record.disturbed_s = cpu.disturbed_s();
  return record;
}

/// True if the trial ended at `end_s` during the disturbance and reports a change of level.
bool reports_disturbance(const SimulatedProgram& program, const Measurement& measurement,
                         double end_s) {
  const double since_s = end_s - program.disturbed_after_s;
  return since_s >= 0.0 && since_s < program.disturbed_s && !measurement.level_changes.empty();
}

struct PlayedLaunch {
  StreamTrial trial;
  TrialRecord record;
};

PlayedLaunch play(const SimulatedProgram& program, const StopRule& rule, bool states_queue,
                  std::uint64_t seed, const UsualNoise& usual) {
  TrainingStream stream(program, seed);
  MeasureOptions options;
  if (states_queue) options.buffered_steps = program.queue_batches;
  options.target_half_width = rule.target_half_width;
  options.usual_variance_s = usual.variance_s();
  Measurer measurer(options);
  std::vector<NaiveInterval> intervals;
  Report latest;
  WatchedCpu cpu(program, seed);
  const double end_s = program.startup_s + rule.max_trial_s;
  const TrialTargets targets = targets_of(rule);
  bool tight = false;
  std::optional<Measurement> whole_run;
  while (!tight) {
    if (stream.is_over()) {
      whole_run = measurer.whole_run(stream.now_s());
      break;
    }
    Report report = stream.next();
    if (report.received_s > end_s) break;
    measurer.add(report);
    cpu.advance(report.received_s);
    if (!report.samples || (latest.samples && *report.samples <= *latest.samples)) continue;
    if (latest.samples) {
      intervals.push_back(
          {*report.samples - *latest.samples, report.received_s - latest.received_s});
    }
    latest = std::move(report);
    tight = is_tight_enough(measurer.current(), targets, rule);
  }
  StreamTrial trial;
  trial.measurement = whole_run ? *whole_run : measurer.current();
  trial.naive = naive_rules(intervals);
  trial.truth_s = program.truth_s() + (stream.launch_factor() - 1.0) * program.step_truth_s();
  const bool rare = program.epoch_steps > 0.0 ||
                    (!program.stalls.empty() && program.stalls[0].every_steps > k_rare_steps);
  const double ended_s = tight ? latest.received_s : whole_run ? stream.now_s() : end_s;
  const bool throttles_later = tight && ended_s < program.throttle_after_s;
  const bool pauses = program.hiccup_share > 0.0;
  trial.unseen = (rare && trial.measurement.phases.empty()) || throttles_later ||
                 reports_disturbance(program, trial.measurement, ended_s) ||
                 (pauses && !(stream.hiccup_end_s() > trial.measurement.window_begin_s()));
  trial.seconds = ended_s - program.startup_s;
  return {std::move(trial), record_of(cpu, ended_s)};
}

}  // namespace

StreamTrial run_stream_trial(const SimulatedProgram& program, const StopRule& rule,
                             bool states_queue, std::uint64_t seed) {
  UsualNoise usual;
  StopRule of_search = rule;
  of_search.most_hidden = std::numeric_limits<double>::infinity();
  of_search.max_trial_s = std::min(rule.max_trial_s, StopRule{}.max_trial_s);
  for (int i = 1; i <= rule.earlier_trials; ++i) {
    const std::uint64_t other = seed + static_cast<std::uint64_t>(i) * k_seeds_apart;
    if (i > 1) of_search.measures_longer = false;
    usual.add(play(program, of_search, states_queue, other, usual).trial.measurement);
  }
  StopRule judged = rule;
  if (rule.earlier_trials > 0) judged.measures_longer = false;
  PlayedLaunch first = play(program, judged, states_queue, seed, usual);
  if (!is_much_disturbed(first.record)) return first.trial;
  SimulatedProgram later = program;
  later.disturbed_after_s -= 2.0 * first.record.ended_wall_s;
  PlayedLaunch again = play(later, judged, states_queue, ~seed, usual);
  const double seconds = first.trial.seconds + again.trial.seconds;
  PlayedLaunch& less_disturbed =
      disturbed_share(again.record) < disturbed_share(first.record) ? again : first;
  less_disturbed.trial.seconds = seconds;
  return less_disturbed.trial;
}

}  // namespace steptune
