// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/recorder.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tuner/loop/decision_log.hpp"

namespace steptune {
namespace {

/// Seconds between two attempts to write.
constexpr double k_retry_after_s = 1.0;
/// Largest amount of tuning time, in seconds, that a kill can lose. Retries last as long.
constexpr double k_between_records_s = 60.0;

}  // namespace

Result<std::vector<TrialEvent>> RunnerEvents::next(double deadline_s) {
  if (!kept_.empty()) return std::exchange(kept_, {});
  return parts_->runner.wait(deadline_s);
}

Result<void> RunnerEvents::pass_time(double deadline_s) {
  double before_s = parts_->clock.now_s();
  while (before_s < deadline_s) {
    auto events = parts_->runner.wait(deadline_s);
    if (!events) return tl::unexpected(events.error());
    const double now_s = parts_->clock.now_s();
    // A runner that has nothing to wait for may return at once. Do not wait again, because that
    // would keep a CPU busy.
    if (events->empty() && now_s <= before_s) break;
    kept_.insert(kept_.end(), std::make_move_iterator(events->begin()),
                 std::make_move_iterator(events->end()));
    before_s = now_s;
  }
  return {};
}

Result<void> Recorder::launching(const TrialRecord& trial) {
  return insist_with_totals(
      [&] { return parts_->history.record_launching(study_->id, trial, study_); });
}

Result<void> Recorder::running(const TrialRecord& trial) {
  return insist([&] {
    return parts_->history.record_running(study_->id, trial.number, trial.token, trial.placement);
  });
}

Result<void> Recorder::ended(const TrialRecord& trial, const TrialTrace& trace) {
  return insist_with_totals(
      [&] { return parts_->history.record_ended(study_->id, trial, study_, trace); });
}

Result<void> Recorder::study() {
  return insist_with_totals([&] { return parts_->history.record_study(*study_); });
}

bool Recorder::is_due() const {
  return stopwatch_->elapsed_s() - recorded_s_ >= k_between_records_s;
}

void Recorder::spent(std::span<const TrialRecord> running) {
  recorded_s_ = stopwatch_->elapsed_s();
  if (auto recorded = parts_->history.record_spent(study_->id, running, recorded_s_); !recorded) {
    log_note(recorded.error().text());
  }
}

void Recorder::decided(StudyDecision decision) {
  decision.at_wall_s = parts_->clock.wall_time_s();
  log_decision(decision);
  study_->decisions.push_back(std::move(decision));
}

Result<void> Recorder::keep_decisions() {
  return study_->decisions.empty() ? Result<void>() : study();
}

void Recorder::count_unused() {
  const std::vector<UnusedTime> since = machines_->take_unused();
  study_->overhead_usd += total_usd(since);
  study_->unused.insert(study_->unused.end(), since.begin(), since.end());
}

Result<void> Recorder::insist_with_totals(const std::function<Result<void>()>& write) {
  auto written = insist([&] {
    count_unused();
    study_->elapsed_s = stopwatch_->elapsed_s();
    return write();
  });
  if (!written) return written;
  study_->unused.clear();
  study_->decisions.clear();
  return written;
}

Result<void> Recorder::insist(const std::function<Result<void>()>& write) {
  Result<void> written = write();
  const double longest_s = gave_up_ ? 0.0 : k_between_records_s;
  for (int retry = 0; retry * k_retry_after_s < longest_s; ++retry) {
    if (written || written.error().kind != ErrorKind::store) break;
    if (parts_->interrupts && parts_->interrupts() > 1) break;
    if (retry == 0) {
      parts_->listener.on_warning(fmt::format(
          "{}; retrying for a minute; no trial is started meanwhile", written.error().text()));
    }
    if (auto passed = events_->pass_time(parts_->clock.now_s() + k_retry_after_s); !passed) {
      return passed;
    }
    written = write();
  }
  gave_up_ = !written;
  return written;
}

}  // namespace steptune
