// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/local/forked_starts.hpp"
#include "trial_runner/local/leftovers.hpp"
#include "trial_runner/local/oom_kill_counters.hpp"
#include "trial_runner/local/placement.hpp"
#include "trial_runner/output/log_file.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// The machine's counters when a trial started.
struct CountersAtStart {
  double started_s = 0.0;
  std::optional<CpuTime> cpu;
  OomKills oom_kills;
};

/// A trial whose process is being created.
struct Launching {
  TrialSpec spec;
  Slot slot;
  Environment environment;
  std::map<std::string, std::string> placed;
  std::vector<std::string> tags;
  ReportReader reader;
  LogFile log;
  Leftovers leftovers;
  CountersAtStart at_start{};  ///< read just before the process starts
};

/// Returns the request to start the trial by a fork; nullopt if the trial needs a new interpreter.
[[nodiscard]] std::optional<ForkedStartRequest> fork_request(const Launching& launching);

/// Prepares the start of trials: their environment, command, log, and the state of the page cache.
class LaunchPreparation {
 public:
  /// `run_tag`: as in `LocalRunnerOptions`. `environment` are the variables of this process.
  LaunchPreparation(std::string run_tag, Environment environment);

  /// Prepares a trial to run in `slot`. Passes on the errors of `ReportReader::create` and
  /// `LogFile::create`: the report format is not valid, or the log cannot be created.
  [[nodiscard]] Result<Launching> prepare(const TrialSpec& spec, const Slot& slot);

 private:
  /// Returns the variables of this process plus the trial's own, before a slot adds its variables.
  [[nodiscard]] Environment own_environment(const TrialSpec& spec) const;
  /// Brings the page cache into the state that the trial asks for, and records that state in
  /// `placed`.
  void prepare_page_cache(const TrialSpec& spec, std::map<std::string, std::string>& placed);

  std::string run_tag_;
  Environment environment_;
  std::optional<bool> data_fits_;  ///< true if the data fits into memory; nullopt: not checked yet
};

}  // namespace steptune::local
