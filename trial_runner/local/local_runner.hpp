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
  /// Number of trials that run at the same time; each gets its own share of CPUs and GPUs.
  int parallel = 1;
  /// CPUs of one trial. Default: an equal share of the CPUs available to this process.
  std::optional<int> cpus_per_trial;
  /// GPUs of one trial. Default: an equal share; if `parallel` is 1, the trial sees the GPUs that
  /// the tuner sees. 0 hides all GPUs.
  std::optional<int> gpus_per_trial;
  /// Bind each trial to its CPUs.
  bool pin = true;
  /// Tag of all processes that this runner starts; must be unique on the machine. Default: made
  /// from this process's number and start time.
  std::string run_tag;
  /// Path of `steptune-watchdog`. Default: the helper installed with the program.
  std::filesystem::path watchdog_program;
};

/// Returns the launchers that can start a trial's processes on this machine.
[[nodiscard]] const std::vector<LauncherSupport>& local_launchers();

/// Runs trials as processes of this machine.
///
/// - A trial is one process group without a shell. It ends when its main process exits, even if
///   other processes still have its output open. All its processes, daemons included, are gone
///   before `TrialFinished`.
/// - If a launch starts several processes, each is bound to its part of the trial's CPUs, unless
///   the study binds them.
/// - Interleaved trials share the same CPUs. They start side by side, and each runs until it has
///   reported progress twice. Then they run in turns of at least a quarter of a second and two
///   reports, but at most 30 s. During one trial's turn, all processes of the other trials are
///   stopped (SIGSTOP). If memory is too short for one more trial, that trial waits until another
///   trial ends. Not possible with several trials at a time, or with GPUs, whose work cannot be
///   stopped.
/// - If this program dies, even by SIGKILL, a watchdog process kills all processes of the trials.
/// - Output is read in bounded memory, stored in the trial's log up to its limit, and passed to
///   the report reader line by line.
/// - `adopt` takes over no trial: it ends the processes that an earlier run's trials left behind.
///
/// SIGINT, SIGTERM and SIGHUP are blocked in the owning thread except inside `wait`, which returns
/// early when one arrives. The runner installs no handlers. Threads that already exist should block
/// these signals as well. While the runner lives, the process is a subreaper: orphaned processes of
/// trials become its children (`Subreaper`). So there can be only one local runner at a time, and
/// other children should stay in this process's group. `clock` outlives the runner and must follow
/// real time.
///
/// Errors: `usage` if the machine is too small for `parallel` trials; `runner` if the system does
/// not report its resources or the watchdog cannot be started.
[[nodiscard]] Result<std::unique_ptr<Runner>> make_local_runner(const Clock& clock,
                                                                LocalRunnerOptions options);

}  // namespace steptune
