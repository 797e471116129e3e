// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/step_script.hpp"
#include "trial_runner/stop_cause.hpp"

namespace steptune::slurm {

/// Facts about an ended step.
struct StepEvidence {
  /// The runner's reason to end the step; nullopt: the runner has not ended it.
  std::optional<StopCause> cause{};
  std::optional<int> srun_status;
  std::string fault;              ///< why output is missing; empty: the output is complete
  std::vector<std::string> tail;  ///< last lines of output
  bool says_memory_out = false;  ///< the last output reports lack of memory (`ended_out_of_memory`)
  /// The last output reports that ranks waited for each other (`ended_with_waiting_ranks`).
  bool says_ranks_waited = false;
  bool memory_kill = false;  ///< Slurm reported in the output that it killed a program for memory
  bool cancelled = false;    ///< Slurm reported in the output that it cancelled the step or job
  bool node_lost = false;    ///< srun reported in the output that it lost a node
  /// The program reported, before any progress, that another program uses the port assigned to the
  /// tasks' rendezvous.
  bool port_taken = false;
  /// State of the allocation, read after the step's end. nullopt: the controller does not answer.
  std::optional<std::string> allocation_state;
};

/// True if Slurm reports in this line that a program was killed for memory.
[[nodiscard]] bool reports_memory_kill(std::string_view line);

/// True if Slurm reports in this line that a step or job was cancelled.
[[nodiscard]] bool reports_cancelling(std::string_view line);

/// True if srun reports in this line that it has lost a node.
[[nodiscard]] bool reports_lost_node(std::string_view line);

/// True if a program reports in this line that its port is used by another program.
[[nodiscard]] bool reports_taken_port(std::string_view line);

/// True if the tasks' marks alone prove that the step has succeeded. Other ends cannot be judged
/// without the allocation's state.
[[nodiscard]] bool is_proven_success(const StepMarks& marks, std::optional<StopCause> cause);

/// Returns the trial's outcome. Returns nullopt if the launch failed without a fault of the trial.
/// Either not all tasks started although no task failed by itself, or another program used the
/// assigned port. Then sets `detail` to the reason.
[[nodiscard]] std::optional<Outcome> step_outcome(const StepMarks& marks,
                                                  const StepEvidence& evidence,
                                                  const TrialLimits& limits, int tasks,
                                                  std::string& detail);

}  // namespace steptune::slurm
