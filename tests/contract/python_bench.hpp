// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::contract {

/// Bench whose trials are processes of one Python program on this machine. It runs as `python3
/// train.py PID_FILE quick|endless`, and writes its process number to the file before its first
/// report.
class PythonBench : public RunnerBench {
 public:
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }
  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override { return trial(key, "quick"); }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    return trial(key, "endless");
  }
  [[nodiscard]] bool is_running(TrialKey key) const override { return is_alive(pid_file(key)); }

 protected:
  PythonBench(int parallel, const std::string& program);

  /// Makes the local runner that the runner under test wraps.
  [[nodiscard]] std::unique_ptr<Runner> make_local() const;
  [[nodiscard]] TrialSpec trial(TrialKey key, const std::string& kind) const;
  [[nodiscard]] std::filesystem::path pid_file(TrialKey key) const;
  /// True if the process runs whose number is in the file.
  [[nodiscard]] static bool is_alive(const std::filesystem::path& pid_file);
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

 private:
  SystemClock clock_;
  int parallel_;
  TemporaryFolder folder_{"contract"};
};

}  // namespace steptune::contract
