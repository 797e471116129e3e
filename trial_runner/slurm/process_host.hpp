// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/clock.hpp"
#include "common/unique_fd.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

struct ProcessHostOptions {
  /// Seen by this machine and by the nodes under the same path.
  std::filesystem::path folder;
  std::filesystem::path supervisor_program;  ///< empty: found among the shipped helpers
  double command_limit_s = 45.0;             ///< a command that takes longer is killed
  int holder_look_s = 5;                     ///< between a placeholder's looks at its lease
  /// What steps see of this program's environment, beside what `srun` itself needs: names of
  /// variables, or beginnings with a `*` behind; nothing: all of it that is not kept from Slurm.
  std::optional<std::vector<std::string>> inherited{};
};

/// This machine. Slurm's commands are taken from PATH; what of this program's environment would be
/// an option to them, or belongs to a job that this program itself runs in, is kept from them.
/// Steps run under `steptune-slurm-supervisor`, which outlives this object.
class ProcessHost final : public SubmitHost {
 public:
  /// `clock` is the system's and outlives the host.
  [[nodiscard]] static Result<std::unique_ptr<ProcessHost>> create(const Clock& clock,
                                                                   ProcessHostOptions options);
  ProcessHost(const ProcessHost&) = delete;
  ProcessHost& operator=(const ProcessHost&) = delete;
  /// Kills commands that are under way.
  ~ProcessHost() override;

  void run(std::vector<std::string> argv, std::string input, Then then) override;
  void poll() override;
  [[nodiscard]] bool busy() const override { return !commands_.empty(); }
  void wait_until(double deadline_s) override;
  [[nodiscard]] Result<void> open_folder(const std::string& prefix) override;
  [[nodiscard]] Result<std::filesystem::path> share_files(
      const std::map<std::string, std::string>& files) override;
  void remove_shared_files() override;
  [[nodiscard]] Result<std::unique_ptr<Step>> start_step(const StepRequest& request) override;
  [[nodiscard]] std::vector<EarlierStep> find_steps() override;
  [[nodiscard]] Result<void> set_lease(const std::string& allocation, double until_wall_s) override;
  [[nodiscard]] std::string holder_script(const std::string& allocation) const override;
  [[nodiscard]] bool holder_is_up(const std::string& allocation) const override;
  void forget_allocation(const std::string& allocation) override;

 private:
  struct Command {
    pid_t pid = -1;
    double until_s = 0.0;
    bool timed_out = false;
    UniqueFd out;
    UniqueFd err;
    Then then;
    CommandResult result;
  };

  ProcessHost(const Clock& clock, ProcessHostOptions options);
  [[nodiscard]] std::filesystem::path lease_of(const std::string& allocation) const;
  [[nodiscard]] std::filesystem::path up_of(const std::string& allocation) const;

  const Clock& clock_;
  ProcessHostOptions options_;
  std::vector<std::string> environment_;       ///< of Slurm's commands
  std::vector<std::string> step_environment_;  ///< of steps, which srun hands on
  std::filesystem::path study_folder_;
  std::list<Command> commands_;
};

/// One command, waited for: where nothing else is to be done meanwhile.
[[nodiscard]] CommandResult run_command(SubmitHost& host, const Clock& clock,
                                        std::vector<std::string> argv, std::string input = {});

/// Whether a variable of a caller's environment would change what Slurm's commands do.
[[nodiscard]] bool is_slurm_variable(std::string_view name);

}  // namespace steptune::slurm
