// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

/// The Slurm that tests/slurm/with-slurm has started, seen from outside the runner.
namespace steptune::slurm {

/// A runner with its folder below `folder`, impatient enough for tests.
[[nodiscard]] std::unique_ptr<Runner> make_test_runner(const Clock& clock,
                                                       const std::filesystem::path& folder,
                                                       SlurmOptions options);

/// What a command of Slurm prints.
std::string slurm_output(const std::vector<std::string>& argv);
/// Ends what a test has left, and waits for it.
void cancel_all_jobs();
/// Whether no job is listed any more within so many seconds.
[[nodiscard]] bool queue_becomes_empty(double within_s);
/// A daemon's: `slurmctld`, `n1`.
void signal_daemon(const std::string& daemon, int signal);
void start_daemon(const std::string& daemon);
void pause_for(double seconds);

}  // namespace steptune::slurm
