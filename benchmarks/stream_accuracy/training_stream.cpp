// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/stream_accuracy/training_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steptune {
namespace {

constexpr double k_pareto_shape = 2.5;
/// Lower bound of a random step or stall, as a share of its mean.
constexpr double k_floor = 0.05;
/// Shortest hiccup that stands out from the steps, as a share of a step.
constexpr double k_shown_share = 0.5;
constexpr double k_clock_epoch_s = 1000.0;
constexpr double k_rank_offset_s = 37.5;

bool falls_on(double step, double every) {
  return every > 0.0 && std::fmod(step, every) < 0.5;
}

double clock_of(SimulatedClock kind, double at_s) {
  switch (kind) {
    case SimulatedClock::coarse:
      return k_clock_epoch_s + std::floor(at_s);
    case SimulatedClock::jumps:
      return k_clock_epoch_s + at_s + (at_s > 7.0 ? 25.0 : 0.0);
    default:
      return k_clock_epoch_s + at_s;
  }
}

}  // namespace

double SimulatedProgram::step_truth_s() const {
  if (drift_per_minute != 0.0) return std::numeric_limits<double>::quiet_NaN();
  const double computing_s = step_s * throttle_ratio + tail_share * tail_mean_s;
  return std::max(computing_s, loader_ratio * step_s);
}

double SimulatedProgram::truth_s() const {
  double seconds = step_truth_s();
  for (const SimulatedStall& stall : stalls)
    seconds += stall.seconds / stall.every_steps;
  seconds += hiccup_share * hiccup_s * (hiccups_in_pairs ? 2.0 : 1.0);
  if (epoch_steps > 0.0) seconds += respawn_s / (epoch_steps - 1.0 + last_batch);
  return seconds;
}

TrainingStream::TrainingStream(const SimulatedProgram& program, std::uint64_t seed)
    : program_(program), rng_(seed, "training_stream"), now_s_(program.startup_s) {
  launch_factor_ = 1.0 + program_.launch_deviation * rng_.normal();
  state_ = rng_.normal();
}

double TrainingStream::level() const {
  double level = launch_factor_ * (1.0 + program_.drift_per_minute * now_s_ / 60.0);
  if (program_.throttle_after_s > 0.0 && now_s_ >= program_.throttle_after_s) {
    level *= program_.throttle_ratio;
  }
  const double disturbed_s = now_s_ - program_.disturbed_after_s;
  if (disturbed_s >= 0.0 && disturbed_s < program_.disturbed_s) level *= program_.disturbed_ratio;
  return level;
}

double TrainingStream::computing_s() {
  const double phi = program_.correlation;
  state_ = phi * state_ + std::sqrt(1.0 - phi * phi) * rng_.normal();
  double relative = 1.0 + program_.noise * state_;
  if (program_.warmup_steps > 0.0) {
    relative += program_.warmup_slowdown * std::exp(-steps_ / program_.warmup_steps);
  }
  if (program_.bucket_steps > 1.0) {
    const double place = std::fmod(steps_, program_.bucket_steps) / (program_.bucket_steps - 1.0);
    relative += program_.bucket_spread * (1.0 - 2.0 * place);
  }
  double seconds = level() * program_.step_s * std::max(k_floor, relative);
  if (program_.tail_share > 0.0 && rng_.uniform() < program_.tail_share) {
    const double scale_s = program_.tail_mean_s * (k_pareto_shape - 1.0) / k_pareto_shape;
    seconds += scale_s * std::pow(1.0 - rng_.uniform(), -1.0 / k_pareto_shape);
  }
  if (steps_ + 1.0 == program_.compile_step) seconds += program_.compile_s;
  return seconds;
}

double TrainingStream::wait_for_batch_s() {
  if (program_.loader_ratio <= 0.0) return 0.0;
  // The loader starts a batch once the previous one is ready and the queue has room for it.
  double begin_s = produced_s_;
  if (static_cast<double>(consumed_s_.size()) >= program_.queue_batches) {
    begin_s = std::max(begin_s, consumed_s_.front());
    consumed_s_.pop_front();
  }
  produced_s_ = begin_s + launch_factor_ * program_.loader_ratio * program_.step_s;
  const double wait_s = std::max(0.0, produced_s_ - now_s_);
  consumed_s_.push_back(now_s_ + wait_s);
  return wait_s;
}

void TrainingStream::step() {
  now_s_ += wait_for_batch_s();
  const bool is_last_of_epoch = falls_on(steps_ + 1.0, program_.epoch_steps);
  const double size = is_last_of_epoch ? program_.last_batch : 1.0;
  now_s_ += size * computing_s();
  samples_ += size;
  steps_ += 1.0;
  const bool is_due = now_s_ - last_report_s_ >=
                      (program_.reports_per_s > 0.0 ? 1.0 / program_.reports_per_s : 0.0);
  if (falls_on(steps_, program_.report_every_steps) && is_due) {
    Report report;
    report.step = steps_;
    report.samples = samples_;
    last_report_s_ = now_s_;
    if (unreported_pause_end_s_)
      hiccup_end_s_ = std::exchange(unreported_pause_end_s_, std::nullopt);
    tell(std::move(report), now_s_);
  }
  interrupt();
  if (falls_on(steps_, program_.flush_steps) || has_ended()) flush();
}

void TrainingStream::pass(const std::string& phase, double seconds, bool reported) {
  now_s_ += seconds;
  if (!reported) return;
  Report report;
  report.phase = PhaseReport{phase, seconds};
  tell(std::move(report), now_s_);
}

double TrainingStream::hiccup_s() {
  if (program_.hiccup_share <= 0.0) return 0.0;
  // Each step has its own chance, so the second hiccup of a pair may be the first of another pair.
  const bool begins = rng_.uniform() < program_.hiccup_share;
  const int count = (begins ? 1 : 0) + (hiccup_follows_ ? 1 : 0);
  hiccup_follows_ = begins && program_.hiccups_in_pairs;
  double seconds = 0.0;
  for (int i = 0; i < count; ++i)
    seconds -= program_.hiccup_s * std::log(1.0 - rng_.uniform());
  return seconds;
}

void TrainingStream::interrupt() {
  for (const SimulatedStall& stall : program_.stalls) {
    if (!falls_on(steps_, stall.every_steps)) continue;
    const double seconds = stall.seconds * std::max(k_floor, 1.0 + stall.spread * rng_.normal());
    pass(stall.name, seconds, stall.reported);
  }
  if (const double seconds = hiccup_s(); seconds > 0.0) {
    pass("pause", seconds, program_.hiccups_reported);
    if (seconds >= k_shown_share * program_.step_s) unreported_pause_end_s_ = now_s_;
  }
  if (falls_on(steps_, program_.epoch_steps)) {
    pass("epoch end", program_.respawn_s, program_.epochs_reported);
  }
}

void TrainingStream::tell(Report report, double at_s) {
  report.received_s = at_s;
  if (program_.log_interval_s > 0.0) {
    report.received_s = std::ceil(at_s / program_.log_interval_s) * program_.log_interval_s;
  }
  if (program_.clock != SimulatedClock::none) report.clock_s = clock_of(program_.clock, at_s);
  if (program_.flush_steps > 0.0) {
    buffered_.push_back(std::move(report));
    return;
  }
  if (program_.clock != SimulatedClock::ranks) {
    waiting_.push_back(std::move(report));
    return;
  }
  // Either process may print first.
  Report other = report;
  (rng_.uniform() < 0.5 ? report : other).clock_s =
      clock_of(program_.clock, at_s) + k_rank_offset_s;
  other.received_s += 1e-3;
  waiting_.push_back(std::move(report));
  waiting_.push_back(std::move(other));
}

void TrainingStream::flush() {
  for (Report& report : buffered_) {
    report.received_s = now_s_;
    waiting_.push_back(std::move(report));
  }
  buffered_.clear();
}

bool TrainingStream::has_ended() const {
  return program_.ends_after_steps > 0.0 && steps_ >= program_.ends_after_steps;
}

bool TrainingStream::is_over() {
  while (waiting_.empty() && !has_ended())
    step();
  return waiting_.empty();
}

Report TrainingStream::next() {
  while (waiting_.empty())
    step();
  Report report = std::move(waiting_.front());
  waiting_.pop_front();
  return report;
}

}  // namespace steptune
