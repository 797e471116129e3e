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
  /// Folder for leases, steps and shared files. Must have the same path on this machine and on the
  /// nodes.
  std::filesystem::path folder;
  std::filesystem::path supervisor_program;  ///< empty: the installed helper
  /// Seconds after which a command is killed. More than the 9 to 18 s after which Slurm's commands
  /// fail by themselves if the controller does not answer.
  double command_limit_s = 45.0;
  /// Seconds between a placeholder's checks of its lease.
  int holder_poll_s = 5;
  /// Environment variables that steps get in addition to those that `srun` needs: names, or
  /// prefixes followed by `*`. nullopt: all variables that Slurm's commands get, too.
  std::optional<std::vector<std::string>> inherited{};
};

/// Submits from this machine. Finds Slurm's commands in PATH. Does not pass them variables that
/// would act as options, or that belong to a job in which this program runs. Steps run under
/// `steptune-slurm-supervisor`, which outlives this object.
class ProcessHost final : public SubmitHost {
 public:
  /// `clock` is the system's clock and outlives the host.
  [[nodiscard]] static Result<std::unique_ptr<ProcessHost>> create(const Clock& clock,
                                                                   ProcessHostOptions options);
  ProcessHost(const ProcessHost&) = delete;
  ProcessHost& operator=(const ProcessHost&) = delete;
  /// Kills running commands except scancel, which must still give nodes back.
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
  [[nodiscard]] std::optional<std::string> node_cpus(const std::string& allocation) const override;
  void forget_allocation(const std::string& allocation) override;

 private:
  struct Command {
    pid_t pid = -1;
    double until_s = 0.0;
    bool timed_out = false;
    bool gives_back = false;
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
  std::vector<std::string> environment_;       ///< environment of Slurm's commands
  std::vector<std::string> step_environment_;  ///< environment of steps; srun passes it on
  std::filesystem::path study_folder_;
  std::list<Command> commands_;
};

/// Runs one command and blocks until it has ended.
[[nodiscard]] CommandResult run_command(SubmitHost& host, const Clock& clock,
                                        std::vector<std::string> argv, std::string input = {});

/// True if a variable would act as an option of Slurm's commands. Also true if it comes from a
/// Slurm job or an MPI launch in which the caller runs.
[[nodiscard]] bool is_slurm_variable(std::string_view name);

}  // namespace steptune::slurm
