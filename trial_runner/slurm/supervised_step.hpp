// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/clock.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// A job step of Slurm (srun) that a supervisor process runs. The supervisor writes the step's
/// output and end into the step's folder (step_files.hpp); this class reads these files. The folder
/// may be on a shared file system, so this class reads the files of a silent step rarely. The
/// supervisor records the time of output, so late reading does not change measurements.
class SupervisedStep final : public Step {
 public:
  /// `child`: process number of the supervisor if this program started it. Otherwise nullopt: the
  /// number is then read from the lock file.
  SupervisedStep(const Clock& clock, std::filesystem::path folder, std::optional<pid_t> child)
      : clock_(clock), folder_(std::move(folder)), child_(child) {}
  SupervisedStep(const SupervisedStep&) = delete;
  SupervisedStep& operator=(const SupervisedStep&) = delete;
  ~SupervisedStep() override { reap(); }

  [[nodiscard]] std::vector<OutputChunk> read() override;
  [[nodiscard]] std::optional<StepEnd> end() override;
  void kill() override;
  void forget() override;

 private:
  void reap();
  [[nodiscard]] bool supervisor_is_gone();
  /// True if the supervisor will write nothing more.
  [[nodiscard]] bool has_ended();
  /// Returns the number of the first existing output segment from `number` on.
  [[nodiscard]] std::optional<int> first_segment_from(int number) const;
  [[nodiscard]] bool read_more();
  /// True if the files should be read now.
  [[nodiscard]] bool is_due();
  void take_records(std::vector<OutputChunk>& chunks);

  const Clock& clock_;
  std::filesystem::path folder_;
  std::optional<pid_t> child_;
  std::optional<StepEnd> end_;
  bool drained_ = false;  ///< the step has ended and all its output was read
  double next_poll_s_ = 0.0;
  double gap_s_ = 0.0;  ///< seconds between reads of the files
  long long segment_read_bytes_ = 0;
  int segment_ = 0;
  UniqueFd file_;
  std::string pending_;  ///< part of an incomplete record
};

/// Returns the process number of the supervisor that holds the lock in `folder`. nullopt if no
/// process has the lock, or if the file system has no locks.
[[nodiscard]] std::optional<pid_t> living_supervisor(const std::filesystem::path& folder);

}  // namespace steptune::slurm
