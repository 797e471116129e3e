// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tests/simulation/scripted_runner.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune::simulation {

/// Returns a study of twenty configurations: batch size x workers. It has a Sobol searcher, no
/// scheduler and a budget of ten trials. Tests change the document.
[[nodiscard]] Json study_document();
[[nodiscard]] StudySpec study_of(const Json& document);

/// Returns the speed of that study's imaginary trainer. More workers and larger batches are faster,
/// up to a point.
[[nodiscard]] TrialScript train(const TrialSpec& spec);

/// Records the loop's messages.
class RecordingListener final : public LoopListener {
 public:
  void on_phase(const std::string& phase) override;
  void on_trial_started(const TrialRecord& trial) override;
  void on_trial_ended(const TrialRecord& trial, const Standing& standing) override;
  void on_progress(const std::vector<const RunningTrial*>& running, double elapsed_s) override;
  void on_warning(const std::string& message) override;

  std::function<void()> at_crash_point;  ///< called at phases, starts and ends
  std::vector<std::string> phases;
  std::vector<std::string> warnings;
  std::vector<std::int64_t> started;
  std::vector<TrialRecord> ended;
  std::vector<std::int64_t> incumbents;
  std::vector<double> progress_s;  ///< elapsed time at each display
  std::size_t most_live = 0;       ///< most trials that ran at the same time
};

/// One run of the tuner on a study in `folder`; only the runner is simulated. A second run on the
/// same folder resumes the study.
struct SimulatedRun {
  /// `wall_start_s` must grow from run to run, like wall time.
  SimulatedRun(const std::filesystem::path& folder, const Json& document,
               ScriptedRunner::Script script, double wall_start_s = 0.0, int capacity = 1);

  [[nodiscard]] Result<LoopResult> run();
  [[nodiscard]] Result<LoopResult> run_on(Runner& other);
  /// Returns the trials in the history, ordered by number.
  [[nodiscard]] std::vector<TrialRecord> trials() const;
  [[nodiscard]] StudyRecord record() const;

  StudySpec study;
  VirtualClock clock;
  ScriptedRunner runner;
  RecordingListener listener;
  History history;
  std::unique_ptr<Searcher> searcher;
  std::unique_ptr<Scheduler> scheduler;
  std::function<int()> interrupts = [] { return 0; };
  std::filesystem::path folder;
};

}  // namespace steptune::simulation
