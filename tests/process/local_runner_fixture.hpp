// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

#include "common/clock.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/local/local_runner.hpp"

namespace steptune::process_tests {

/// Real time that tests can advance, so that no test waits for a limit.
class SkippingClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override { return real_.now_s() + skipped_s_; }
  [[nodiscard]] double wall_time_s() const override { return real_.wall_time_s() + skipped_s_; }
  void skip(double seconds) { skipped_s_ += seconds; }

 private:
  SystemClock real_;
  double skipped_s_ = 0.0;
};

/// Events of a trial's run.
struct TrialRun {
  std::vector<TrialStarted> started;
  std::vector<Report> reports;
  std::vector<TrialDisturbed> disturbed;
  std::vector<TrialFinished> finished;
  [[nodiscard]] const Outcome& outcome() const { return finished.at(0).outcome; }
};

/// Local runner, a folder, and short ways to start trials and to wait for them.
class LocalRunnerTest : public testing::Test {
 protected:
  ~LocalRunnerTest() override;

  /// Makes the runner. It has one place and does not pin, unless `options` says otherwise.
  Runner& use(LocalRunnerOptions options = unpinned());
  static LocalRunnerOptions unpinned();
  [[nodiscard]] Runner& runner() { return *runner_; }
  void drop_runner() { runner_.reset(); }

  [[nodiscard]] TrialSpec trial(std::vector<std::string> argv) const;
  [[nodiscard]] TrialSpec shell(const std::string& script) const;
  [[nodiscard]] TrialSpec fake(std::vector<std::string> arguments) const;

  /// Starts the trial and waits for its end. Makes a default runner if there is none yet.
  TrialRun run(const TrialSpec& spec);
  void start(const TrialSpec& spec);
  /// Waits until the trial's log contains `text`.
  void wait_for_output(const TrialSpec& spec, const std::string& text);
  /// Waits until `count` trials have finished.
  TrialRun wait_for_end(std::size_t count = 1);

  [[nodiscard]] static std::string log_of(const TrialSpec& spec);
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }

  SkippingClock clock_;

 private:
  TemporaryFolder folder_{"local-runner"};
  std::unique_ptr<Runner> runner_;
};

/// Returns the numbers of the `pid N` lines.
[[nodiscard]] std::vector<pid_t> pids_in(const std::string& text);
/// True if the process is neither gone nor a zombie.
[[nodiscard]] bool is_alive(pid_t pid);
/// Returns the processes that still live.
[[nodiscard]] std::vector<pid_t> alive(const std::vector<pid_t>& pids);
/// Path of the built watchdog.
inline constexpr const char* k_watchdog = STEPTUNE_BINARY_DIR "/bin/steptune-watchdog";
/// Name of the watchdog in /proc/PID/comm, of which the kernel keeps 15 characters.
inline constexpr std::string_view k_watchdog_comm = "steptune-watchd";

/// Returns the children of this process, except for the watchdog.
[[nodiscard]] std::vector<pid_t> own_children();
/// Polls a condition until it is true; false after a minute.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

}  // namespace steptune::process_tests
