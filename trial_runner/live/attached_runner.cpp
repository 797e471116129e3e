// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/attached_runner.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/json.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/live/loss_watch.hpp"
#include "trial_runner/live/paired_blocks.hpp"

namespace steptune::live {
namespace {

/// A trial that is measured in a running program, which continues after the trial.
struct SharedTrial {
  TrialSpec spec;
  double asked_s = 0.0;
  std::optional<double> started_s{};  ///< when its settings took effect
  bool lost_settings = false;         ///< the hook has reported that they no longer apply
};

class AttachedRunner final : public Runner {
 public:
  AttachedRunner(const Clock& clock, AttachedProgram& program) : clock_(clock), program_(program) {}

  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return 1; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;

 private:
  void take_turn();
  void on_step(const LiveStep& step);
  void on_divergence(const std::set<TrialKey>& suspects);
  void begin_measuring();
  void report_hook_events();
  void report();
  void finish(OutcomeKind kind, std::string detail = "");

  const Clock& clock_;
  AttachedProgram& program_;
  Admission admission_;
  PairedBlocks blocks_;
  LossWatch loss_;
  KnobValues baseline_;
  /// Number of the latest configuration (`AttachedProgram::switch_to`).
  std::int64_t latest_configuration_ = 0;
  std::optional<SharedTrial> active_;
  std::vector<TrialEvent> events_;
};

Result<void> AttachedRunner::begin_study(const std::string& name, const std::string& /*identity*/) {
  if (auto none = admission_.check_no_study(); !none) return none;
  admission_.begin_study(name);
  return {};
}

Result<void> AttachedRunner::start(const TrialSpec& spec) {
  std::vector<TrialKey> under_way;
  if (active_) under_way.push_back(active_->spec.key);
  if (auto free = admission_.check_start(spec.key, under_way, capacity()); !free) return free;
  active_ = SharedTrial{spec, clock_.now_s()};
  if (!spec.live) {
    finish(OutcomeKind::not_started, "a setting cannot be changed while the program runs");
    return {};
  }
  baseline_ = spec.live->baseline_knobs;
  if (const auto& level = spec.live->baseline_seconds_per_sample) {
    blocks_.begin_trial(*level);
  } else {
    blocks_.begin_alone(spec.live->knobs == baseline_ ? Alone::baseline : Alone::other);
  }
  if (blocks_.arm() == Arm::trial || latest_configuration_ == 0) take_turn();
  return {};
}

void AttachedRunner::take_turn() {
  const bool of_trial = active_ && blocks_.arm() == Arm::trial;
  const KnobValues& knobs = of_trial ? active_->spec.live->knobs : baseline_;
  latest_configuration_ = program_.switch_to(knobs);
  if (knobs != baseline_) loss_.record_switch(latest_configuration_, active_->spec.key);
}

Result<std::vector<TrialEvent>> AttachedRunner::wait(double deadline_s) {
  while (true) {
    const auto steps = program_.steps(events_.empty() ? deadline_s : clock_.now_s());
    for (const LiveStep& step : steps)
      on_step(step);
    if (active_ && program_.unusable()) finish(OutcomeKind::lost, *program_.unusable());
    if (active_ && program_.is_gone()) {
      finish(OutcomeKind::lost, "the program has ended or continues without the tuner");
    }
    const bool is_over = program_.is_gone() || program_.unusable();
    if (!events_.empty() || is_over || clock_.now_s() >= deadline_s) break;
  }
  return std::exchange(events_, {});
}

void AttachedRunner::on_step(const LiveStep& step) {
  if (const auto suspects = loss_.add(step); !suspects.empty()) {
    on_divergence(suspects);
    return;
  }
  // Ignore steps that were made before the latest switch.
  if (step.configuration != latest_configuration_) return;
  if (active_ && blocks_.arm() == Arm::trial) {
    const bool begins = !active_->started_s;
    if (begins) begin_measuring();
    const bool had_settings = !active_->lost_settings;
    active_->lost_settings =
        !had_settings || why_not_applied(program_.log(), active_->spec.live->knobs).has_value();
    if (begins || (had_settings && active_->lost_settings)) report_hook_events();
  }
  if (blocks_.add(step)) take_turn();
  report();
}

void AttachedRunner::on_divergence(const std::set<TrialKey>& suspects) {
  if (active_ && suspects == std::set{active_->spec.key}) {
    finish(OutcomeKind::failed, std::string(k_diverged));
  }
  program_.give_up(
      fmt::format("the loss became infinite or NaN in trial {}; the weights since then may be "
                  "useless: restart without --tune, or resume from an earlier checkpoint",
                  suspects.rbegin()->trial));
}

void AttachedRunner::begin_measuring() {
  active_->started_s = clock_.now_s();
  events_.emplace_back(TrialStarted{active_->spec.key,
                                    *active_->started_s,
                                    "",
                                    {{k_shared_program, "the long run"}},
                                    program_.startup_s().value_or(0.0)});
}

void AttachedRunner::report_hook_events() {
  Report report;
  report.received_s = clock_.now_s();
  for (const Json& event : program_.log().to_json())
    report.hook_events.push_back(dump_json(event));
  events_.emplace_back(TrialReported{active_->spec.key, std::move(report)});
}

void AttachedRunner::report() {
  for (Report& report : blocks_.take()) {
    if (!active_ || !active_->started_s) continue;
    report.received_s += *active_->started_s;
    events_.emplace_back(TrialReported{active_->spec.key, std::move(report)});
  }
}

void AttachedRunner::finish(OutcomeKind kind, std::string detail) {
  const double now_s = clock_.now_s();
  const double duration_s = now_s - active_->asked_s;
  events_.emplace_back(TrialFinished{active_->spec.key,
                                     now_s,
                                     {.kind = kind,
                                      .detail = std::move(detail),
                                      .duration_s = duration_s,
                                      .billed_s = duration_s}});
  const bool was_trial = active_->spec.live && blocks_.arm() == Arm::trial;
  active_.reset();
  blocks_.end_trial();
  if (was_trial && !program_.is_gone()) take_turn();
}

void AttachedRunner::stop(TrialKey key) {
  if (active_ && active_->spec.key == key) finish(OutcomeKind::stopped);
}

void AttachedRunner::kill_all() {
  if (active_) finish(OutcomeKind::stopped);
}

Result<std::vector<TrialKey>> AttachedRunner::adopt(std::span<const Orphan> /*orphans*/) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  return std::vector<TrialKey>{};
}

}  // namespace
}  // namespace steptune::live

namespace steptune {

std::unique_ptr<Runner> make_attached_runner(const Clock& clock, live::AttachedProgram& program) {
  return std::make_unique<live::AttachedRunner>(clock, program);
}

}  // namespace steptune
