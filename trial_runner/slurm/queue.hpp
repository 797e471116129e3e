// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steptune::slurm {

/// A job as squeue lists it. Times are seconds since 1970.
struct QueueRow {
  std::string id;                      ///< digits only
  std::string state;                   ///< `RUNNING`
  std::string reason;                  ///< `Resources`; `None` if there is none
  std::optional<double> start_wall_s;  ///< of a pending job: the expected start
  std::optional<double> end_wall_s;
  std::optional<double> submit_wall_s;
  int nodes = 0;
  int cpus = 0;  ///< over all nodes
  std::string node_list;
  std::string name;
};

/// Returns the number at the start of a text; 0 if there is none.
[[nodiscard]] int leading_number(std::string_view text);

/// Returns the command that lists all jobs of this user, including ended ones that the controller
/// still knows. Needs `SLURM_TIME_FORMAT=%s` in the environment.
[[nodiscard]] std::vector<std::string> queue_command();
/// Parses the list. Skips lines of another form (warnings of a site's wrapper). nullopt if the
/// heading is missing, because output without a heading is no proof that there are no jobs.
[[nodiscard]] std::optional<std::vector<QueueRow>> parse_queue(std::string_view text);

/// Parses the output of `squeue --steps --format=%i|%j` into ids and names. Leaves out steps that
/// wait for their turn and have no number yet.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_steps(std::string_view text);

/// Replaces the state of a job that the controller no longer lists.
inline constexpr std::string_view k_gone_state = "GONE";

/// Meaning of a job's state for its trials.
enum class JobPhase {
  waiting,    ///< in the queue, or its nodes are being prepared
  usable,     ///< it has its nodes
  suspended,  ///< its programs are frozen
  held,       ///< in the queue until a person acts
  over,       ///< ended or ending; its nodes can no longer be used
};
/// Returns the phase of each state that Slurm knows. An unknown state counts as waiting, because
/// the job is still listed.
[[nodiscard]] JobPhase phase_of(std::string_view state);

/// True if a job in this state waits for nodes, and none of its programs from before a requeue
/// still runs. False for an unknown state.
[[nodiscard]] bool is_in_queue(std::string_view state);

/// Says why an allocation is gone, for people: `preempted by a job of higher priority`.
[[nodiscard]] std::string words_of(std::string_view state);

/// Meaning of a pending job's reason.
enum class WaitKind {
  waits,  ///< waits for its turn, for nodes, or because other jobs fill a limit
  never,  ///< this request can never start
  held,   ///< somebody must release it
};
[[nodiscard]] WaitKind wait_kind(std::string_view reason);

/// Returns the first host of a list: `n3` for `n[3-5,7],m1`.
[[nodiscard]] std::string first_host(std::string_view node_list);

}  // namespace steptune::slurm
