// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/forked/forked_runner.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "common/json.hpp"
#include "common/log.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/hooks/python_hook.hpp"

namespace steptune {
namespace {

/// Number of the trial that checks forking. Trials of a study have positive numbers.
constexpr std::int64_t k_check_trial = -1;
/// Time limit of the check, as a multiple of the time after which the normal start reported losses.
constexpr double k_patience = 3.0;
/// Shortest time limit of the check, in seconds.
constexpr double k_least_patience_s = 20.0;
/// Longest time from the first step to the known losses, as a multiple of the program's start-up
/// time. The check takes this time once; each later trial saves a part of a start-up.
constexpr double k_most_starts = 5.0;

/// A trial that started normally, and its hook's reports.
struct Watched {
  TrialSpec spec;
  double started_s = 0.0;
  std::optional<double> first_step_after_s{};
  std::optional<double> losses_after_s{};
  HookLog log{};
};

/// A forked run of the reference's configuration, and the trial that waits for the check's result.
struct Check {
  TrialSpec waiting;
  bool is_forked = false;
  bool is_cancelled = false;  ///< the waiting trial was cancelled
  std::optional<bool> equal{};
  HookLog log{};
};

bool reports_losses(const HookLog& log) {
  return log.event("losses").is_object();
}

/// True if at least one loss is known. Unknown losses ("None") would look equal.
bool knows_losses(const HookLog& log) {
  const auto first = log.event("losses").find("first");
  return first != log.event("losses").end() && first->is_array() &&
         std::ranges::any_of(*first, [](const Json& loss) { return loss != "None"; });
}

/// Prevents the check's hook from writing into the events file of the trial that the check repeats.
void keep_no_events(TrialSpec& spec) {
  const auto hook_variable = spec.environment.find(k_python_hook_variable);
  if (hook_variable == spec.environment.end()) return;
  auto json = parse_json(hook_variable->second, k_python_hook_variable);
  if (!json || !json->is_object()) return;
  json->erase("events");
  hook_variable->second = dump_json(*json);
}

class ForkedRunner final : public Runner {
 public:
  ForkedRunner(const Clock& clock, std::unique_ptr<Runner> runner)
      : clock_(clock), runner_(std::move(runner)) {}

  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override {
    auto begun = runner_->begin_study(name, identity);
    if (begun) admission_.begin_study(name);
    return begun;
  }
  [[nodiscard]] int capacity() const override { return runner_->capacity(); }
  [[nodiscard]] bool interleaves() const override { return runner_->interleaves(); }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override {
    return runner_->adopt(orphans);
  }
  [[nodiscard]] MachineHolder& machine_holder() override { return runner_->machine_holder(); }

 private:
  [[nodiscard]] Result<void> begin(const TrialSpec& spec);
  [[nodiscard]] Result<void> start_fresh(TrialSpec spec);
  [[nodiscard]] Result<void> start_forked(TrialSpec spec);
  /// Starts a trial that `start` has accepted already. If that fails, the trial ends as
  /// `not_started`.
  void start_accepted(TrialSpec spec);
  [[nodiscard]] Result<void> start_check(const TrialSpec& waiting);
  void refuse(const std::string& why);
  void watch(const TrialEvent& event);
  void on_watched_end(TrialKey key);
  void on_check_event(const TrialEvent& event);
  void end_check(const Outcome& outcome);
  void end_unstarted(TrialKey key, OutcomeKind kind, std::string why);

  const Clock& clock_;
  std::unique_ptr<Runner> runner_;
  Admission admission_;
  std::set<TrialKey> under_way_;  ///< trials known to the tuner; each takes a place
  /// Running trials that started normally and may become the reference.
  std::map<TrialKey, Watched> watched_;
  std::optional<Watched> reference_;
  std::optional<Check> check_;
  int checks_ = 0;
  bool may_fork_ = false;
  bool is_refused_ = false;
  std::vector<TrialEvent> events_;
};

Result<void> ForkedRunner::start(const TrialSpec& spec) {
  // Count the places here, because the inner runner does not know the trial that waits for the
  // check.
  const std::vector<TrialKey> under_way(under_way_.begin(), under_way_.end());
  const int places = Admission::places_for(spec, under_way, *this);
  if (auto free = admission_.check_start(spec.key, under_way, places); !free) return free;
  auto started = begin(spec);
  if (started) under_way_.insert(spec.key);
  return started;
}

Result<void> ForkedRunner::begin(const TrialSpec& spec) {
  // Interleaved trials start normally, in new processes.
  if (!spec.forked_modules || is_refused_ || spec.interleaved_round > 0) return start_fresh(spec);
  if (may_fork_) return start_forked(spec);
  if (reference_ && !check_) return start_check(spec);
  return start_fresh(spec);
}

Result<void> ForkedRunner::start_fresh(TrialSpec spec) {
  const bool is_watched =
      spec.forked_modules && !is_refused_ && !reference_ && spec.interleaved_round == 0;
  const TrialKey key = spec.key;
  spec.forked_modules.reset();
  auto started = runner_->start(spec);
  if (started && is_watched) watched_.insert_or_assign(key, Watched{std::move(spec)});
  return started;
}

Result<void> ForkedRunner::start_forked(TrialSpec spec) {
  spec.forked_modules = reference_->log.imports();
  return runner_->start(spec);
}

void ForkedRunner::start_accepted(TrialSpec spec) {
  const TrialKey key = spec.key;
  const auto started = may_fork_ ? start_forked(std::move(spec)) : start_fresh(std::move(spec));
  if (!started) end_unstarted(key, OutcomeKind::not_started, started.error().text());
}

Result<void> ForkedRunner::start_check(const TrialSpec& waiting) {
  TrialSpec spec = reference_->spec;
  spec.key = {k_check_trial, ++checks_};
  spec.forked_modules.emplace();
  spec.live.reset();
  keep_no_events(spec);
  if (!spec.log_path.empty()) spec.log_path = spec.log_path.parent_path() / "fork-check.log";
  const double patience_s = std::max(k_least_patience_s, k_patience * *reference_->losses_after_s);
  spec.limits.wall_s = std::min(spec.limits.wall_s, patience_s);
  auto started = start_forked(std::move(spec));
  if (started) check_ = Check{waiting};
  return started;
}

void ForkedRunner::refuse(const std::string& why) {
  is_refused_ = true;
  watched_.clear();
  log_line(LogLevel::info, "trials are not forked: {}", why);
}

Result<std::vector<TrialEvent>> ForkedRunner::wait(double deadline_s) {
  while (true) {
    auto heard = runner_->wait(events_.empty() ? deadline_s : clock_.now_s());
    if (!heard) return tl::unexpected(heard.error());
    const bool interrupted = heard->empty() && clock_.now_s() < deadline_s;
    for (TrialEvent& event : *heard) {
      const TrialKey key = key_of(event);
      if (key.trial == k_check_trial) {
        on_check_event(event);
        continue;
      }
      watch(event);
      events_.push_back(std::move(event));
    }
    if (!events_.empty() || interrupted || clock_.now_s() >= deadline_s) break;
  }
  for (const TrialEvent& event : events_) {
    if (std::holds_alternative<TrialFinished>(event)) under_way_.erase(key_of(event));
  }
  return std::exchange(events_, {});
}

void ForkedRunner::watch(const TrialEvent& event) {
  const TrialKey key = key_of(event);
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  Watched& trial = found->second;
  if (const auto* started = std::get_if<TrialStarted>(&event)) {
    trial.started_s = started->time_s;
  } else if (const auto* reported = std::get_if<TrialReported>(&event)) {
    const double after_s = reported->report.received_s - trial.started_s;
    for (const std::string& hook_event : reported->report.hook_events)
      trial.log.add(hook_event);
    if (!trial.first_step_after_s) trial.first_step_after_s = after_s;
    if (!trial.losses_after_s && reports_losses(trial.log)) trial.losses_after_s = after_s;
  } else if (std::holds_alternative<TrialFinished>(event)) {
    on_watched_end(key);
  }
}

void ForkedRunner::on_watched_end(TrialKey key) {
  auto ended = watched_.extract(key);
  // A trial that reported no losses cannot be the reference. A later trial may be.
  if (reference_ || !reports_losses(ended.mapped().log)) return;
  reference_ = std::move(ended.mapped());
  if (!knows_losses(reference_->log)) {
    refuse("the hook knows none of the program's first losses, so nothing would show a difference");
  } else if (*reference_->losses_after_s >
             (1.0 + k_most_starts) * *reference_->first_step_after_s) {
    refuse("start-up is short compared with its steps; forking would save little");
  }
}

void ForkedRunner::on_check_event(const TrialEvent& event) {
  if (!check_) return;
  if (const auto* started = std::get_if<TrialStarted>(&event)) {
    const auto fact = started->placement.find(k_start_fact);
    check_->is_forked = fact != started->placement.end() && fact->second == k_forked;
    if (!check_->is_forked) runner_->stop(started->key);
  } else if (const auto* reported = std::get_if<TrialReported>(&event)) {
    for (const std::string& hook_event : reported->report.hook_events)
      check_->log.add(hook_event);
    if (check_->equal || !reports_losses(check_->log)) return;
    check_->equal = check_->log.event("losses") == reference_->log.event("losses");
    runner_->stop(reported->key);
  } else if (const auto* finished = std::get_if<TrialFinished>(&event)) {
    end_check(finished->outcome);
  }
}

void ForkedRunner::end_unstarted(TrialKey key, OutcomeKind kind, std::string why) {
  events_.emplace_back(
      TrialFinished{key, clock_.now_s(), {.kind = kind, .detail = std::move(why)}});
}

void ForkedRunner::end_check(const Outcome& outcome) {
  Check check = *std::exchange(check_, std::nullopt);
  if (check.is_cancelled) {
    end_unstarted(check.waiting.key, OutcomeKind::stopped, "stopped before it started");
    return;
  }
  may_fork_ = check.is_forked && check.equal.value_or(false);
  if (!check.is_forked) {
    refuse("the process cannot be forked");
  } else if (!check.equal) {
    refuse(fmt::format("a forked process reports no losses: {}", outcome.detail));
  } else if (!*check.equal) {
    refuse(
        "the first losses of a forked process differ from those of a fresh one; the program "
        "may set no seed");
  }
  start_accepted(std::move(check.waiting));
}

void ForkedRunner::stop(TrialKey key) {
  if (check_ && check_->waiting.key == key) {
    check_->is_cancelled = true;
    runner_->stop({k_check_trial, checks_});
    return;
  }
  runner_->stop(key);
}

void ForkedRunner::kill_all() {
  if (check_) check_->is_cancelled = true;
  runner_->kill_all();
}

}  // namespace

std::unique_ptr<Runner> make_forked_runner(const Clock& clock, std::unique_ptr<Runner> runner) {
  return std::make_unique<ForkedRunner>(clock, std::move(runner));
}

}  // namespace steptune
