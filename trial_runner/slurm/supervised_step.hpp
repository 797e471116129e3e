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

/// A step under its supervisor, read through the files of its folder (step_files.hpp). The folder
/// may be on a shared file system, so the files of a silent step are read rarely. The supervisor
/// records the time of output, so late reading does not change measurements.
class SupervisedStep final : public Step {
 public:
  /// `child` is the supervisor's process if this program started it; otherwise the lock file names
  /// it.
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
  /// True if the supervisor has written all that it will write.
  [[nodiscard]] bool has_ended();
  /// Returns the number of the first existing output segment from `number` on.
  [[nodiscard]] std::optional<int> first_segment_from(int number) const;
  [[nodiscard]] bool read_more();
  /// True if files should be read again now.
  [[nodiscard]] bool is_due();
  void take_records(std::vector<OutputChunk>& chunks);

  const Clock& clock_;
  std::filesystem::path folder_;
  std::optional<pid_t> child_;
  std::optional<StepEnd> end_;
  bool drained_ = false;
  double next_poll_s_ = 0.0;
  double gap_s_ = 0.0;
  long long segment_read_bytes_ = 0;
  int segment_ = 0;
  UniqueFd file_;
  std::string pending_;  ///< part of an incomplete record
};

/// Returns the process number of the supervisor that holds the lock in `folder`; nullopt if none
/// does.
[[nodiscard]] std::optional<pid_t> living_supervisor(const std::filesystem::path& folder);

}  // namespace steptune::slurm
