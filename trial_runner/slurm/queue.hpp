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
  std::string reason;                  ///< `Resources`; `None` where there is none
  std::optional<double> start_wall_s;  ///< of a pending job: as expected
  std::optional<double> end_wall_s;
  std::optional<double> submit_wall_s;
  int nodes = 0;
  int cpus = 0;  ///< of all nodes
  std::string node_list;
  std::string name;
};

/// All jobs of this user, ended ones that the controller remembers included. Needs
/// `SLURM_TIME_FORMAT=%s` in the environment.
[[nodiscard]] std::vector<std::string> queue_command();
/// Lines that are not of that form (warnings of a site's wrapper) are left out. Nothing where the
/// list's heading is missing: a wrapper that prints nothing has not told that there are no jobs.
[[nodiscard]] std::optional<std::vector<QueueRow>> parse_queue(std::string_view text);

/// Steps that `squeue --steps --format=%i|%j` lists, by id and name, without those that wait for
/// their turn: those have no number yet.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_steps(std::string_view text);

/// In place of the state of a job that the controller no longer lists.
inline constexpr std::string_view k_gone_state = "GONE";

/// What a job's state means for whoever holds it.
enum class JobPhase {
  waiting,    ///< in the queue, or its nodes are being prepared
  usable,     ///< its nodes are there
  suspended,  ///< its programs are frozen
  held,       ///< in the queue until a person acts
  over,       ///< ended or ending: its nodes cannot be used any more
};
/// For every state that Slurm knows; an unknown one is waited for, as the job is still listed.
[[nodiscard]] JobPhase phase_of(std::string_view state);

/// Whether a job in this state waits for nodes, with no program left of what ran in it before. A
/// state that is not known says nothing of that.
[[nodiscard]] bool is_in_queue(std::string_view state);

/// Why an allocation is gone, for people: `preempted by a job of higher priority`.
[[nodiscard]] std::string words_of(std::string_view state);

/// What a pending job's reason means.
enum class WaitKind {
  waits,  ///< for its turn, for nodes, for a limit that others fill
  never,  ///< it cannot start as it was asked for
  held,   ///< somebody must release it
};
[[nodiscard]] WaitKind wait_kind(std::string_view reason);

/// The first host of `n[3-5,7],m1`: `n3`.
[[nodiscard]] std::string first_host(std::string_view node_list);

}  // namespace steptune::slurm
