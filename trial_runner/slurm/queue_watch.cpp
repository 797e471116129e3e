// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/queue_watch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/submission.hpp"

namespace steptune::slurm {
namespace {

/// Factor on `poll_s` while no job is about to start or end.
constexpr double k_calm_polls = 4.0;
/// Seconds without an answer after which the user is informed.
constexpr double k_unanswered_notice_s = 60.0;
/// Factor by which the time between two lists grows while nothing changes.
constexpr double k_gap_growth = 1.6;

}  // namespace

Result<void> QueueWatch::begin() {
  asked_s_ = clock_.now_s();
  const CommandResult listed = run_command(host_, clock_, queue_command());
  if (!listed.ok() || !parse_queue(listed.out)) {
    return fail(ErrorKind::runner, "cannot read Slurm's queue: " + last_words(listed), "squeue",
                "`steptune doctor` shows what it finds of Slurm on this machine");
  }
  on_answer(asked_s_, listed);
  return {};
}

void QueueWatch::ask_soon(double delay_s) {
  if (unanswered_since_s_) return;  // an outage has its own intervals
  const double now_s = clock_.now_s();
  next_s_ = std::min(next_s_, std::max(now_s + delay_s, asked_s_ + k_least_request_gap_s));
  gap_s_ = k_least_request_gap_s;
}

void QueueWatch::ask_if_due() {
  if (asking_ || clock_.now_s() < next_s_) return;
  asking_ = true;
  asked_s_ = clock_.now_s();
  next_s_ = k_infinity;
  host_.run(queue_command(), {}, [this, asked_s = asked_s_](const CommandResult& result) {
    on_answer(asked_s, result);
  });
}

double QueueWatch::next_due_s() const {
  return asking_ ? k_infinity : next_s_;
}

void QueueWatch::on_answer(double asked_s, const CommandResult& result) {
  asking_ = false;
  const double now_s = clock_.now_s();
  const auto rows = parse_queue(result.out);
  QueueInterest interest = QueueInterest::changing;
  if (result.ok() && rows) {
    if (unanswered_since_s_ && now_s - *unanswered_since_s_ > k_unanswered_notice_s) {
      notices_.add("Slurm's controller answers again");
    }
    notices_.end_topic("away");
    unanswered_since_s_.reset();
    listed_as_of_s_ = asked_s;
    interest = on_listed_(*rows);
  } else {
    // Without an answer, assume that nothing has changed: the controller may be restarting.
    if (!unanswered_since_s_) {
      unanswered_since_s_ = asked_s;
      gap_s_ = k_least_request_gap_s;
    }
    unanswered_text_ = result.ok() ? "squeue has printed no list" : last_words(result);
  }
  if (interest == QueueInterest::none) return;
  const double longest_gap_s =
      unanswered_since_s_ ? std::max(options_.poll_s, k_longest_request_gap_s) : options_.poll_s;
  gap_s_ = std::min(std::max(gap_s_, k_least_request_gap_s) * k_gap_growth, longest_gap_s);
  const double gap_s =
      interest == QueueInterest::changing ? gap_s_ : k_calm_polls * options_.poll_s;
  next_s_ = std::min(next_s_, now_s + gap_s);
}

Result<void> QueueWatch::check_outage() {
  if (!unanswered_since_s_) return {};
  const double silent_s = clock_.now_s() - *unanswered_since_s_;
  if (silent_s > k_unanswered_notice_s) {
    notices_.add_once("away",
                      fmt::format("Slurm's controller does not answer, retrying for up to {}; "
                                  "running trials continue: {}",
                                  format_duration(options_.longest_outage_s), unanswered_text_));
  }
  if (silent_s <= options_.longest_outage_s) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("Slurm's controller has not answered for {}: {}",
                          format_duration(silent_s), unanswered_text_),
              "squeue", "once it is back, run the study again: running trials are taken over");
}

}  // namespace steptune::slurm
