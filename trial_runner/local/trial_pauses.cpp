// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/trial_pauses.hpp"

#include <algorithm>
#include <csignal>
#include <ranges>
#include <set>
#include <utility>

#include "trial_runner/runner.hpp"

namespace steptune::local {
namespace {

/// Largest number of searches for processes. Several are needed, because a process may be started
/// just before its parent is stopped.
constexpr int k_most_lists = 20;
/// Number of searches in a row that must find no new process. The kernel's list of children may
/// lack a child while another child exits.
constexpr int k_lists_without_new = 2;

}  // namespace

Report TrialPauses::without_pauses(Report report) {
  if (report.clock_s) report.clock_s = clock_without_pauses(*report.clock_s);
  const bool is_first_rank = report.global_rank.value_or(0) == 0;
  report.parts = is_first_rank ? parts_without_pauses(std::move(report.parts), report.received_s)
                               : PartSeconds();
  if (report.phase && report.phase->seconds && !report.phase->by_receipt) {
    double& seconds = *report.phase->seconds;
    const double begin_s = report.received_s + paused_s_ - seconds;
    for (const auto& [from_s, to_s] : over_)
      seconds -= std::max(0.0, to_s - std::max(from_s, begin_s));
    seconds = std::max(0.0, seconds);
  }
  return report;
}

double TrialPauses::clock_without_pauses(double clock_s) {
  double without_s = clock_s - paused_s_;
  // A program may read its clock before a pause and print the value after it. Never let the
  // converted clock go back.
  if (clock_s >= latest_clock_.read_s) without_s = std::max(without_s, latest_clock_.without_s);
  latest_clock_ = {clock_s, without_s};
  return without_s;
}

PartSeconds TrialPauses::parts_without_pauses(PartSeconds parts, double at_s) {
  if (parts.empty()) return {};
  if (!latest_parts_) {
    first_parts_s_ = at_s;
  } else if (latest_parts_->pauses == over_.size() && !is_paused()) {
    seen_parts_.add(latest_parts_->parts, parts, at_s - latest_parts_->at_s);
  }
  latest_parts_ = {std::move(parts), at_s, over_.size()};
  return seen_parts_.of(at_s - first_parts_s_);
}

void TrialPauses::stop(const std::function<std::vector<ProcessStat>()>& list) {
  std::set<ProcessId> known;
  int without_new = 0;
  for (int lists = 0; without_new < k_lists_without_new && lists < k_most_lists; ++lists) {
    ++without_new;
    for (const ProcessStat& process : list()) {
      if (!known.insert(process.id).second) continue;
      without_new = 0;
      if (process.state != 'T' && send_signal(process.id, SIGSTOP)) stopped_.push_back(process.id);
    }
  }
}

double TrialPauses::end(double now_s) {
  if (!is_paused()) return 0.0;
  const double from_s = *since_s_;
  over_.emplace_back(from_s, now_s);
  paused_s_ += now_s - from_s;
  since_s_.reset();
  if (printed_) ++ineffective_;
  printed_ = false;
  // Resume children first, so that no resumed parent finds its child still stopped.
  for (const ProcessId& process : std::views::reverse(stopped_))
    send_signal(process, SIGCONT);
  stopped_.clear();
  return now_s - from_s;
}

bool TrialPauses::are_ineffective() const {
  // A single late line may have been written before the stop.
  return ineffective_ >= k_lasting_failures;
}

}  // namespace steptune::local
