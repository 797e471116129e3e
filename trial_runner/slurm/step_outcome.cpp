// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/step_outcome.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/exit_status.hpp"
#include "trial_runner/output/out_of_memory.hpp"
#include "trial_runner/output/waiting_ranks.hpp"

namespace steptune::slurm {
namespace {

constexpr std::array<std::string_view, 3> k_lost_node_phrases{
    "Node failure on", "io error with slurmstepd", "Communication connection failure"};

/// The first letter is left out, because it may be a capital (gloo, NCCL, Python) or a small letter
/// (PyTorch's TCPStore).
constexpr std::array<std::string_view, 2> k_taken_port_phrases{"ddress already in use",
                                                               "EADDRINUSE"};

bool has_any(std::string_view line, std::span<const std::string_view> phrases) {
  return std::ranges::any_of(phrases, [line](std::string_view phrase) {
    return line.find(phrase) != std::string_view::npos;
  });
}

std::string with_last_output(std::string detail, const StepEvidence& evidence) {
  add_clause(detail, evidence.fault);
  add_last_output(detail, evidence.tail);
  return detail;
}

/// True if Slurm killed a program for memory. It was the trial's program, because nothing else runs
/// in its allocation.
bool was_killed_for_memory(const StepEvidence& evidence) {
  return evidence.memory_kill ||
         (evidence.allocation_state && evidence.allocation_state->starts_with("OUT_OF_MEMORY"));
}

Outcome of_program(const StepMarks& marks, const StepEvidence& evidence) {
  Outcome outcome;
  outcome.kind = OutcomeKind::failed;
  outcome.exit_code = *marks.failure();
  outcome.detail = fmt::format("the program ended with exit status {}", outcome.exit_code);
  if (marks.folder_missing()) {
    outcome.kind = OutcomeKind::not_started;
    outcome.detail = "the trial's folder does not exist on the node";
  } else if (outcome.exit_code == k_not_found_status ||
             outcome.exit_code == k_not_executable_status) {
    outcome.kind = OutcomeKind::not_started;
    outcome.detail = outcome.exit_code == k_not_found_status
                         ? "there is no such program on the node"
                         : "the program cannot be executed";
  } else if (was_killed_for_memory(evidence) || evidence.says_memory_out) {
    outcome.kind = OutcomeKind::out_of_memory;
  } else if (evidence.says_ranks_waited && !evidence.port_taken) {
    outcome.kind = OutcomeKind::hung;
    add_clause(outcome.detail, k_ranks_waited_text);
  }
  return outcome;
}

}  // namespace

bool reports_memory_kill(std::string_view line) {
  return (line.starts_with("slurmstepd") || line.starts_with("srun: error")) &&
         reports_out_of_memory(line);
}

bool reports_cancelling(std::string_view line) {
  return line.starts_with("slurmstepd") && line.find(" CANCELLED AT ") != std::string_view::npos;
}

bool reports_lost_node(std::string_view line) {
  return line.starts_with("srun: error") && has_any(line, k_lost_node_phrases);
}

bool reports_taken_port(std::string_view line) {
  return has_any(line, k_taken_port_phrases);
}

bool is_proven_success(const StepMarks& marks, std::optional<StopCause> cause) {
  return !cause && marks.all_succeeded() && !marks.was_asked_to_end();
}

std::optional<Outcome> step_outcome(const StepMarks& marks, const StepEvidence& evidence,
                                    const TrialLimits& limits, int tasks, std::string& detail) {
  if (evidence.cause) return stopped_outcome(*evidence.cause, limits);
  if (is_proven_success(marks, evidence.cause)) return Outcome{};

  const bool known = evidence.allocation_state.has_value();
  const bool over = known && phase_of(*evidence.allocation_state) != JobPhase::usable;
  const bool incomplete = marks.exited() < tasks;
  // If Slurm cancels the step, a shell may live long enough to report the signal that ended its
  // program.
  const bool killed_by_others =
      marks.was_asked_to_end() || (evidence.cancelled && (marks.failure() == k_sigkill_status ||
                                                          marks.failure() == k_sigterm_status));
  // After the loss of a node, the remaining tasks fail because the other tasks are missing.
  const bool cut_off =
      (incomplete && (over || evidence.node_lost)) || (marks.only_ended() && (over || !known));
  const bool failed_itself = marks.failure() && !killed_by_others && !cut_off;
  if (!marks.all_started() && !failed_itself) {
    detail = marks.started() == 0
                 ? "the step did not start"
                 : fmt::format("only {} of {} tasks started", marks.started(), tasks);
    if (over) detail += fmt::format(": its allocation is {}", words_of(*evidence.allocation_state));
    detail = with_last_output(std::move(detail), evidence);
    return std::nullopt;
  }
  Outcome outcome;
  if (failed_itself) {
    outcome = of_program(marks, evidence);
    if (evidence.port_taken && outcome.kind == OutcomeKind::failed) {
      detail = with_last_output(
          "the port at which its tasks were to meet is in use: " + outcome.detail, evidence);
      return std::nullopt;
    }
  } else if (was_killed_for_memory(evidence)) {
    outcome.kind = OutcomeKind::out_of_memory;
    outcome.exit_code = evidence.srun_status.value_or(1);
    outcome.detail = "killed for memory on its node";
  } else {
    outcome.kind = OutcomeKind::lost;
    outcome.exit_code = evidence.srun_status.value_or(0);
    if (over) {
      outcome.detail = fmt::format("its allocation is {}", words_of(*evidence.allocation_state));
    } else if (evidence.node_lost) {
      outcome.detail = "lost with a node";
    } else if (marks.was_asked_to_end()) {
      outcome.detail = "asked to end from outside, for example by a preemption with a grace time";
    } else {
      // If no output is missing, no other reason than an end from outside is left.
      outcome.detail =
          evidence.fault.empty() ? "its step was ended from outside" : "how it ended is not known";
    }
  }
  outcome.detail = with_last_output(std::move(outcome.detail), evidence);
  return outcome;
}

}  // namespace steptune::slurm
