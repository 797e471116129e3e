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

/// A step under its supervisor, followed through the files of its folder (step_files.hpp), which
/// may lie on a file system that many share: looked at seldom while nothing comes. Times of output
/// are the supervisor's, so that a late look changes no measurement.
class SupervisedStep final : public Step {
 public:
  /// `child`: the supervisor, if this program started it; else it is found by its lock.
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
  /// Whether the supervisor has written its last.
  [[nodiscard]] bool has_ended();
  /// Number of the first segment of the output that is there, from `number` on.
  [[nodiscard]] std::optional<int> first_segment_from(int number) const;
  [[nodiscard]] bool read_more();
  /// True once it is time to look at files again.
  [[nodiscard]] bool is_due();
  void take_records(std::vector<OutputChunk>& chunks);

  const Clock& clock_;
  std::filesystem::path folder_;
  std::optional<pid_t> child_;
  std::optional<StepEnd> end_;
  bool drained_ = false;
  double next_look_s_ = 0.0;
  double gap_s_ = 0.0;
  long long segment_read_bytes_ = 0;
  int segment_ = 0;
  UniqueFd file_;
  std::string pending_;  ///< of a record that is not complete
};

/// The process number of the supervisor that holds the lock in `folder`; nothing where none does.
[[nodiscard]] std::optional<pid_t> living_supervisor(const std::filesystem::path& folder);

}  // namespace steptune::slurm
