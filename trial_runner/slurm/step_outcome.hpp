// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/step_script.hpp"

namespace steptune::slurm {

/// Why this program has ended a step.
enum class EndCause { none, caller, wall_limit, no_output };

/// What is known of a step that has ended.
struct StepEvidence {
  EndCause cause = EndCause::none;
  std::optional<int> srun_status;
  std::string fault;              ///< why output is missing; empty if none is
  std::vector<std::string> tail;  ///< last lines of output
  bool says_memory_out = false;   ///< its last words do (`ended_out_of_memory`)
  bool memory_kill = false;       ///< Slurm's words among the output say so
  bool cancelled = false;         ///< likewise
  bool node_lost = false;         ///< likewise
  /// The program found the port that it was given for its tasks' meeting in use, and told no
  /// progress.
  bool port_taken = false;
  /// Of the allocation, asked after the step's end; nothing: the controller does not answer.
  std::optional<std::string> allocation_state;
};

/// Whether a line of output is Slurm's own about a program that was killed for memory.
[[nodiscard]] bool tells_of_memory_kill(std::string_view line);

/// Whether a line of output is Slurm's own about a step or job that was cancelled.
[[nodiscard]] bool tells_of_cancelling(std::string_view line);

/// Whether a line is srun's own about a node that it has lost sight of.
[[nodiscard]] bool tells_of_lost_node(std::string_view line);

/// Whether a line is a program's own about a port that it could not have, as another program has
/// it.
[[nodiscard]] bool tells_of_taken_port(std::string_view line);

/// Whether the end can be judged without asking what has become of the allocation: only success
/// proves itself.
[[nodiscard]] bool is_proven_success(const StepMarks& marks, EndCause cause);

/// How the trial ended; nothing where its program never ran although nobody has ended it, or failed
/// for the port that it was given: the launch has failed, which is not the trial's fault. `detail`
/// tells why in any case.
[[nodiscard]] std::optional<Outcome> step_outcome(const StepMarks& marks,
                                                  const StepEvidence& evidence,
                                                  const TrialLimits& limits, int tasks,
                                                  std::string& detail);

}  // namespace steptune::slurm
