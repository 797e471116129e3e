// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/follower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/clauses.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/report_times.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Lines were written earlier if their own times span more than the time of reading. The difference
/// must be at least this many seconds, because dates are coarse.
constexpr double k_late_s = 60.0;
constexpr std::size_t k_most_machine_seconds = 1000;

/// Returns the seconds to skip at the start. Usually these are the warm-up. After a level change,
/// the measured window covers only the last level, but earlier levels are no warm-up. Then returns
/// only the excess time of the warm-up.
double warmup_s(const Measurement& measurement) {
  return std::max(
      0.0, measurement.level_changes.empty() ? measurement.warmup_s : measurement.warmup_excess_s);
}

std::string reason_of(const Measurement& measurement, std::int64_t without_time) {
  if (measurement.total_samples > 0.0) {
    return "too few reports after the warm-up to compare a rate; let it run on";
  }
  if (without_time > 0) {
    return "the log does not say when its lines were printed, so no rate can be computed: let the "
           "program print dates (2025-01-09 11:53:02), or report from code, or follow it while it "
           "runs (-- COMMAND, or - for stdin)";
  }
  return "no progress was read: does it print what the study's \"reports\" reads? [steptune] lines "
         "are printed only if STEPTUNE_TRIAL is set";
}

}  // namespace

std::string to_text(Keeping keeping) {
  return std::string(k_keeping_names.name_of(keeping));
}

Result<Follower> Follower::create(ReportFormat format, Promise promise,
                                  std::optional<double> started_s) {
  format.samples_per_step = promise.samples_per_step;
  auto reader = ReportReader::create(format);
  if (!reader) return tl::unexpected(reader.error());
  if (started_s) return Follower(*std::move(reader), std::move(promise), started_s);
  auto second = ReportReader::create(format);
  if (!second) return tl::unexpected(second.error());
  Follower follower(*std::move(reader), promise, started_s);
  follower.as_log_ =
      std::make_unique<Follower>(Follower(*std::move(second), std::move(promise), std::nullopt));
  return follower;
}

Follower::Follower(ReportReader reader, Promise promise, std::optional<double> started_s)
    : promise_(std::move(promise)), reader_(std::move(reader)), started_s_(started_s) {}

void Follower::read_line(std::string_view line, double now_s) {
  if (as_log_) as_log_->read_old_line(line);
  const auto line_s = line_clock_.read(line);
  auto report = reader_.read_line(line, now_s);
  if (!report) return;
  if (time_source_ == TimeSource::unknown) time_source_ = TimeSource::receipt;
  // If earlier lines were timed by their own clocks, time this line in the same way.
  if (time_source_ == TimeSource::own_clock && report->clock_s)
    report->received_s = *report->clock_s;
  if (time_source_ == TimeSource::line && line_s) report->received_s = *line_s;
  take(*report);
}

void Follower::saw_machine(const MachineSecond& second) {
  machine_.push_back(second);
  if (machine_.size() >= 2 * k_most_machine_seconds) {
    machine_ = thinned(machine_, k_most_machine_seconds);
  }
}

void Follower::read_old_line(std::string_view line) {
  const auto line_s = line_clock_.read(line);
  auto report = reader_.read_line(line, line_s.value_or(0.0));
  if (!report) return;
  const bool counts = report->step || report->samples;
  if (time_source_ == TimeSource::unknown && counts) {
    if (report->clock_s) {
      time_source_ = TimeSource::own_clock;
    } else if (line_s) {
      time_source_ = TimeSource::line;
    }
  }
  const auto time_s = time_source_ == TimeSource::own_clock ? report->clock_s : line_s;
  if (time_source_ == TimeSource::unknown || !time_s) {
    without_time_ += counts ? 1 : 0;
    return;
  }
  report->received_s = *time_s;
  take(*report);
}

bool Follower::has_begun_anew(const Report& report, double samples) {
  if (track_.empty() || (by_own_clock_ && !report.clock_s)) return false;
  const TrackPoint point{samples, by_own_clock_ ? *report.clock_s : report.received_s};
  const TrackPoint& latest = track_.back();
  // A new program may be behind only in samples, if it starts from a checkpoint. It may be behind
  // only in time, if it runs on another machine. So count reports that are behind in either.
  if (point.samples >= latest.samples && point.time_s >= latest.time_s) {
    behind_in_a_row_ = 0;
  } else {
    const bool goes_on =
        behind_in_a_row_ > 0 && behind_.time_s < point.time_s && behind_.samples < point.samples;
    behind_in_a_row_ = goes_on ? behind_in_a_row_ + 1 : 1;
    behind_ = point;
  }
  return behind_in_a_row_ >= k_reports_of_restart;
}

void Follower::take(const Report& report) {
  if (report.global_rank.value_or(0) != 0) return;
  // If the study has samples per step, the reader has already converted steps to samples. Otherwise
  // count in steps.
  const auto samples = report.samples ? report.samples : report.step;
  if (samples && has_begun_anew(report, *samples)) {
    began_anew_ = true;
    measurer_.reset();
    track_ = ProgressTrack();
    // The start time of the new program is unknown.
    started_s_.reset();
    first_received_s_.reset();
  }
  if (!measurer_) {
    MeasureOptions options;
    options.started_s = started_s_.value_or(report.received_s);
    measurer_.emplace(options);
  }
  measurer_->add(report);
  if (!samples) return;
  if (!first_received_s_) first_received_s_ = report.received_s;
  // Use one clock for the whole track. Progress bars before the first `[steptune]` line lack its
  // clock.
  if (track_.empty()) by_own_clock_ = report.clock_s.has_value();
  if (by_own_clock_ && !report.clock_s) return;
  track_.add({*samples, by_own_clock_ ? *report.clock_s : report.received_s});
}

bool Follower::came_at_once() const {
  if (time_source_ != TimeSource::receipt || by_own_clock_ || track_.empty()) return false;
  const double samples = track_.back().samples - track_.front().samples;
  return seen_s() < k_negligible_share * samples * promise_.seconds_per_sample.value;
}

const Follower* Follower::by_own_times() const {
  const bool both_have_times = as_log_ && !as_log_->track_.empty() && !track_.empty() &&
                               time_source_ == TimeSource::receipt && !by_own_clock_;
  if (!both_have_times) return nullptr;
  const double before_s = as_log_->seen_s() - seen_s();
  // Only dates can show that lines are older. The clocks of progress bars may come from several
  // programs, and each clock starts at 0.
  const bool is_dated = as_log_->line_clock_.source() == LineClock::Source::timestamps;
  const bool begins_before = is_dated && before_s > k_late_s;
  return came_at_once() || begins_before ? as_log_.get() : nullptr;
}

std::string Follower::clock_text() const {
  if (const Follower* other = by_own_times()) return other->clock_text();
  if (time_source_ == TimeSource::own_clock) return "the clock of its [steptune] lines";
  if (time_source_ != TimeSource::line) return {};
  return line_clock_.source() == LineClock::Source::timestamps
             ? "the dates of its lines"
             : "its progress bars, which leave out the time between two bars";
}

FollowState Follower::state() const {
  if (const Follower* other = by_own_times()) return other->state();
  FollowState state;
  const Measurement measurement = measurer_ ? measurer_->current() : Measurement{};
  std::string why_unknown = reason_of(measurement, without_time_);
  add_clause(why_unknown, reader_.rejections());
  if (track_.empty()) {
    state.reason = why_unknown;
    return state;
  }
  state.seen_s = seen_s();
  state.samples = track_.back().samples;
  state.phases = measurement.phases;
  const double begin_s = track_.front().time_s + warmup_s(measurement);
  state.seconds_per_sample = track_.rate_since(begin_s);
  if (!state.seconds_per_sample) {
    state.reason = why_unknown;
    return state;
  }
  const double watched_samples = state.samples - track_.front().samples;
  if (came_at_once()) {
    state.seconds_per_sample.reset();
    state.reason =
        "its lines came all at once, as from a buffer, so they give no rate: make the program "
        "flush each line (python3 -u, stdbuf -oL), or let it run longer";
    return state;
  }
  // "Now" is the last minute.
  state.seconds_per_sample_now = track_.rate_of_last(60.0, begin_s);
  take_awaited_off(state);
  state.deviation = track_.deviation(*state.promised, begin_s);
  compare(state);
  state.causes = causes_of(promise_, measurement, watched_samples, state.deviation,
                           machine_cause(state.deviation));
  if (began_anew_) {
    state.causes.emplace_back(
        "the program restarted (its clock or its counters went back): what it did before is "
        "ignored");
  }
  if (state.deviation) state.deviation->since.time_s -= track_.front().time_s;
  return state;
}

MachineCause Follower::machine_cause(const std::optional<Deviation>& deviation) const {
  if (!deviation || !started_s_ || time_source_ != TimeSource::receipt) return {};
  const double begin_s = *first_received_s_ - *started_s_;
  const double since_s = begin_s + deviation->since.time_s - track_.front().time_s;
  const auto now = within(machine_, since_s, k_infinity);
  const auto before = within(machine_, begin_s, since_s);
  return {explaining_change(before, now, deviation->ratio),
          explaining_change(promise_.machine, now, deviation->ratio)};
}

void Follower::take_awaited_off(FollowState& state) const {
  state.promised = promise_.seconds_per_sample;
  for (const auto& [name, phase] : promise_.phases) {
    if (!(phase.period_samples > 0.0) || state.phases.contains(name) || is_stall(name)) continue;
    // A phase comes after the report of the step at which it is due. So a phase that is due exactly
    // at the latest report may still come.
    const double due_before = std::ceil(track_.front().samples / phase.period_samples);
    const double due_now = std::ceil(track_.back().samples / phase.period_samples);
    if (due_now > due_before) continue;
    state.awaited.insert(name);
    state.promised->value -= Promise::per_sample_s(phase);
  }
}

void Follower::compare(FollowState& state) const {
  const Interval95& promised = *state.promised;
  // Assume that the rest of the run is as fast as the run since its deviation began.
  state.judged_seconds_per_sample =
      state.deviation ? track_.rate_since(state.deviation->since.time_s) : state.seconds_per_sample;
  const auto& rate = state.judged_seconds_per_sample;
  state.keeping = Keeping::kept;
  if (rate->low() > promised.high()) state.keeping = Keeping::broken;
  if (rate->high() < promised.low()) state.keeping = Keeping::faster;
  if (!promise_.samples) return;
  const TrackPoint& first = track_.front();
  const double left = std::max(0.0, *promise_.samples - state.samples);
  // If the program was already running, its start is unknown. Assume that it kept the promise until
  // the first report.
  const double before_s =
      started_s_ && time_source_ == TimeSource::receipt
          ? *first_received_s_ - *started_s_
          : promise_.startup_s + first.samples * promise_.seconds_per_sample.value;
  const double awaited_s = promise_.seconds_per_sample.value - promised.value;
  state.run_s = Interval95{before_s + state.seen_s + left * (rate->value + awaited_s),
                           left * rate->half_width};
}

}  // namespace steptune
