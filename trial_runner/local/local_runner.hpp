// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

struct LocalRunnerOptions {
  /// Trials at the same time; each gets its own share of CPUs and GPUs.
  int parallel = 1;
  /// Default: an equal share of the CPUs that this process may use.
  std::optional<int> cpus_per_trial;
  /// Default: an equal share, and untouched for a single trial. 0 hides all GPUs.
  std::optional<int> gpus_per_trial;
  /// Bind each trial to its CPUs.
  bool pin = true;
  /// Set OMP_NUM_THREADS and its like to the trial's CPU count where the study does not set them.
  bool set_thread_counts = true;
  /// Tags everything this runner starts; must be unique on the machine. Default: made from process
  /// number and start time.
  std::string run_tag;
  /// Default: found among the shipped helpers.
  std::filesystem::path watchdog_program;
};

/// By which trials start many processes on this machine.
[[nodiscard]] const std::vector<LauncherSupport>& local_launchers();

/// Runs trials as processes of this machine.
///
/// - A trial is one process group, without a shell; it ends when its main process exits, whoever
///   still holds its output. Nothing that it started, daemons included, outlives `TrialFinished`.
/// - Of a launch of several processes, each is bound to its part of the trial's CPUs, unless the
///   study binds them.
/// - Interleaved trials share the first trial's CPUs. Each starts alone, until it has reported
///   progress; then they run in turns of half a second and of two reports at least, and all
///   processes of the others are stopped (SIGSTOP). Where memory is short for another one, it
///   waits for those before it to end. Not with GPUs, whose work cannot be stopped.
/// - If this program dies, by SIGKILL too, a watchdog process kills what it had started.
/// - Output is read in bounded memory, kept in the trial's log up to its cap, and given to the
///   report reader line by line.
/// - `adopt` takes nothing over: it ends what an earlier run's trials left behind.
///
/// SIGINT, SIGTERM and SIGHUP are blocked in the owning thread except inside `wait`, which returns
/// early when one arrives; the runner installs no handlers. Threads that exist before should block
/// them as well. The process becomes a subreaper while the runner lives: at most one local runner
/// at a time, and other children of the process should stay in its process group. `clock` outlives
/// the runner and has to follow real time.
///
/// Errors: `usage` where the machine has too little for so many trials at a time, `runner` where it
/// does not tell what it has, or the watchdog cannot be started.
[[nodiscard]] Result<std::unique_ptr<Runner>> make_local_runner(const Clock& clock,
                                                                LocalRunnerOptions options);

}  // namespace steptune
