// SPDX-License-Identifier: Apache-2.0
#include "tests/slurm/slurm_world.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <poll.h>

#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"

namespace steptune::slurm {
namespace {

std::filesystem::path slurm_folder() {
  const char* folder = std::getenv("STEPTUNE_SLURM_DIR");
  return folder == nullptr ? std::filesystem::path() : std::filesystem::path(folder);
}

std::unique_ptr<ProcessHost> make_host(const Clock& clock, const std::filesystem::path& folder) {
  ProcessHostOptions options;
  options.folder = folder;
  options.supervisor_program = STEPTUNE_BINARY_DIR "/bin/steptune-slurm-supervisor";
  options.holder_poll_s = 1;
  auto host = ProcessHost::create(clock, options);
  if (host) return *std::move(host);
  ADD_FAILURE() << host.error().text();
  return nullptr;
}

}  // namespace

std::unique_ptr<Runner> make_test_runner(const Clock& clock, const std::filesystem::path& folder,
                                         SlurmOptions options) {
  auto host = make_host(clock, folder);
  if (host == nullptr) return nullptr;
  options.poll_s = 1.0;
  return std::make_unique<SlurmRunner>(clock, std::move(host), std::move(options));
}

std::string slurm_output(const std::vector<std::string>& argv) {
  const SystemClock clock;
  const auto host = make_host(clock, slurm_folder());
  const CommandResult result = run_command(*host, clock, argv);
  return result.out + result.err;
}

bool queue_becomes_empty(double within_s) {
  const SystemClock clock;
  const double until_s = clock.now_s() + within_s;
  while (!slurm_output({"squeue", "--noheader"}).empty()) {
    if (clock.now_s() > until_s) return false;
    pause_for(0.05);
  }
  return true;
}

void cancel_all_jobs() {
  slurm_output({"scancel", "--me"});
  EXPECT_TRUE(queue_becomes_empty(30.0)) << slurm_output({"squeue"});
}

void signal_daemon(const std::string& daemon, int signal) {
  std::ifstream file(slurm_folder() / (daemon + ".pid"));
  pid_t pid = 0;
  ASSERT_TRUE(file >> pid && pid > 1) << daemon;
  ASSERT_EQ(::kill(pid, signal), 0) << daemon;
}

void start_daemon(const std::string& daemon) {
  slurm_output({(slurm_folder() / "start-daemon").string(), daemon});
}

void pause_for(double seconds) {
  ::poll(nullptr, 0, static_cast<int>(seconds * 1e3));
}

}  // namespace steptune::slurm
