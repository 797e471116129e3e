// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::simulation {

/// Script of one launch of a trial.
struct TrialScript {
  double startup_s = 2.0;
  double seconds_per_step = 0.1;
  double samples_per_step = 32.0;
  bool reports_samples = true;  ///< false: reports only steps
  double noise = 0.01;          ///< relative standard deviation of a step
  /// Share by which each step is longer than the previous step.
  double slower_by_step = 0.0;
  /// Number of steps after which the program ends by itself; unset: never.
  std::optional<int> steps;
  OutcomeKind ends_as = OutcomeKind::completed;  ///< outcome if the program ends by itself
  std::string detail;
  OutcomeKind stops_as = OutcomeKind::stopped;  ///< outcome of a requested stop
  double stopping_s = 0.01;                     ///< seconds that stopping takes
  bool ignores_stop = false;                    ///< true if only `kill_all` ends the trial
  bool silent = false;                          ///< true if the program reports nothing
  /// Number of steps after which the program hangs until it is stopped; unset: never.
  std::optional<int> hangs_after;
  /// Share of the trial's time in which other programs use the machine.
  double disturbed_share = 0.0;
  std::map<std::string, double> metrics;  ///< metrics in every report
  std::optional<double> peak_memory_bytes;
};

/// Runner whose trials follow scripts under a virtual clock. Also checks the caller's duties: the
/// caller starts no key twice, and no more trials than the capacity allows.
class ScriptedRunner final : public Runner {
 public:
  using Script = std::function<TrialScript(const TrialSpec&)>;

  ScriptedRunner(VirtualClock& clock, int capacity, Script script)
      : clock_(clock), capacity_(capacity), script_(std::move(script)) {}

  [[nodiscard]] Result<void> begin_study(const std::string& /*name*/,
                                         const std::string& identity) override {
    study_identity = identity;
    return {};
  }
  [[nodiscard]] int capacity() const override { return capacity_; }
  [[nodiscard]] bool interleaves() const override { return interleaved; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;

  /// Called at the points at which a test may simulate a crash: before and after the start of a
  /// trial, and before the runner stops a trial. Also before the loop receives an event other than
  /// a report.
  std::function<void()> at_crash_point;
  std::function<void()> at_wait;
  std::string study_identity;  ///< identity that the loop has given
  bool interleaved = false;    ///< true if trials of a round run at the same time
  bool adopts = false;         ///< true if the runner adopts every orphan, which then starts again

  [[nodiscard]] const std::vector<TrialSpec>& started() const { return started_; }
  [[nodiscard]] const std::vector<TrialKey>& adopted() const { return adopted_; }
  [[nodiscard]] std::size_t running() const { return live_.size(); }
  [[nodiscard]] std::size_t most_running() const { return most_running_; }

 private:
  struct Live {
    TrialScript script;
    int round = 0;  ///< `TrialSpec::interleaved_round`
    double started_s = 0.0;
    double next_s = 0.0;  ///< time of the next report, or of the end if that is due
    int steps = 0;
    bool announced = false;
    std::optional<OutcomeKind> ending;
  };

  void begin(const TrialSpec& spec);
  void happen(TrialKey key, Live& live, std::vector<TrialEvent>& events);
  [[nodiscard]] double step_s(TrialKey key, const Live& live) const;
  void crash_point() const {
    if (at_crash_point) at_crash_point();
  }

  VirtualClock& clock_;
  int capacity_;
  Script script_;
  std::map<TrialKey, Live> live_;
  std::set<TrialKey> known_;
  std::vector<TrialSpec> started_;
  std::vector<TrialKey> adopted_;
  std::size_t most_running_ = 0;
};

}  // namespace steptune::simulation
