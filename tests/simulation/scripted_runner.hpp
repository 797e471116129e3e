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

/// How one launch of a trial goes.
struct TrialScript {
  double startup_s = 2.0;
  double seconds_per_step = 0.1;
  double samples_per_step = 32.0;
  bool tells_samples = true;                     ///< else steps alone
  double noise = 0.01;                           ///< relative standard deviation of a step
  double slower_by_step = 0.0;                   ///< each step takes this share longer
  std::optional<int> steps;                      ///< ends by itself after so many; never if absent
  OutcomeKind ends_as = OutcomeKind::completed;  ///< then
  std::string detail;
  OutcomeKind stops_as = OutcomeKind::stopped;  ///< how it ends when told to
  double stopping_s = 0.01;                     ///< how long that takes
  bool ignores_stop = false;                    ///< only `kill_all` ends it
  bool silent = false;                          ///< reports nothing
  std::optional<int> hangs_after;               ///< so many steps: does nothing more until stopped
  double disturbed_share = 0.0;                 ///< of its time: others used the machine
  std::map<std::string, double> metrics;        ///< in every report
  std::optional<double> peak_memory_bytes;
};

/// A runner whose trials follow scripts under a virtual clock. It also checks what the interface
/// demands of its caller: no key is started twice, no more trials run than there is capacity for.
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

  /// Called wherever a trial's state changes: before and after it is started, before the loop
  /// learns that it runs, is asked to end, or has ended.
  std::function<void()> at_crash_point;
  std::function<void()> at_wait;
  std::string study_identity;  ///< as the loop has told it
  bool interleaved = false;    ///< trials of a round run at once
  bool adopts = false;         ///< takes over every orphan, which then begins anew

  [[nodiscard]] const std::vector<TrialSpec>& started() const { return started_; }
  [[nodiscard]] const std::vector<TrialKey>& adopted() const { return adopted_; }
  [[nodiscard]] std::size_t running() const { return live_.size(); }
  [[nodiscard]] std::size_t most_running() const { return most_running_; }

 private:
  struct Live {
    TrialScript script;
    int round = 0;  ///< `TrialSpec::interleaved_round`
    double started_s = 0.0;
    double next_s = 0.0;  ///< of the next report, or of the end where one is due
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
