// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

/// The Slurm that tests/slurm/with-slurm started, seen from outside the runner.
namespace steptune::slurm {

/// Makes a runner with its folder below `folder` and short time limits for tests.
[[nodiscard]] std::unique_ptr<Runner> make_test_runner(const Clock& clock,
                                                       const std::filesystem::path& folder,
                                                       SlurmOptions options);

/// Returns the output of one of Slurm's commands.
std::string slurm_output(const std::vector<std::string>& argv);
/// Cancels all jobs that a test has left, and waits until they are gone.
void cancel_all_jobs();
/// True if no job is listed any more within this time.
[[nodiscard]] bool queue_becomes_empty(double within_s);
/// Sends a signal to a daemon: `slurmctld`, `n1`.
void signal_daemon(const std::string& daemon, int signal);
void start_daemon(const std::string& daemon);
void pause_for(double seconds);

}  // namespace steptune::slurm
