// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/queue.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune::slurm {
namespace {

struct StateWords {
  std::string_view state;
  JobPhase phase;
  std::string_view words;
};
constexpr std::array<StateWords, 31> k_states = {{
    {"PENDING", JobPhase::waiting, "back in the queue: its programs were ended"},
    {"CONFIGURING", JobPhase::waiting, "its nodes are being prepared"},
    {"POWER_UP_NODE", JobPhase::waiting, "its nodes are being started"},
    {"EXPEDITING", JobPhase::waiting, "back in the queue: its programs were ended"},
    {"RESIZING", JobPhase::waiting, "its size is being changed"},
    {"STAGE_OUT", JobPhase::over, "its data is being written back"},
    {"RUNNING", JobPhase::usable, "running"},
    {"SIGNALING", JobPhase::usable, "running"},
    {"SUSPENDED", JobPhase::suspended, "suspended"},
    {"STOPPED", JobPhase::suspended, "stopped"},
    {"COMPLETING", JobPhase::over, "ending"},
    {"COMPLETED", JobPhase::over, "given back: nobody had renewed its lease"},
    {"CANCELLED", JobPhase::over, "cancelled by someone else"},
    {"TIMEOUT", JobPhase::over, "at its time limit"},
    {"FAILED", JobPhase::over, "failed: is the runner's folder visible on the nodes?"},
    {"NODE_FAIL", JobPhase::over, "lost with a node that failed"},
    {"BOOT_FAIL", JobPhase::over, "lost with nodes that did not boot"},
    {"RECONFIG_FAIL", JobPhase::over, "lost with nodes that could not be prepared"},
    {"LAUNCH_FAILED", JobPhase::over, "not launched on its nodes"},
    {"PREEMPTED", JobPhase::over, "preempted by a job of higher priority"},
    {"OUT_OF_MEMORY", JobPhase::over, "ran out of memory"},
    {"DEADLINE", JobPhase::over, "ended at its deadline"},
    {"REVOKED", JobPhase::over, "taken over by another cluster"},
    {"REQUEUED", JobPhase::held, "requeued"},
    {"REQUEUE_FED", JobPhase::held, "requeued by another cluster"},
    {"REQUEUE_HOLD", JobPhase::held, "requeued and held"},
    {"SPECIAL_EXIT", JobPhase::held, "held for a special exit"},
    {"RESV_DEL_HOLD", JobPhase::held, "held: its reservation was deleted"},
    {"SIGNALLING", JobPhase::usable, "running"},
    {"POWERING_UP", JobPhase::waiting, "its nodes are being started"},
    {k_gone_state, JobPhase::over, "no longer known to the controller"},
}};

/// Finds a state by its first word: `CANCELLED by 1000` is `CANCELLED`.
const StateWords* find_state(std::string_view state) {
  state = state.substr(0, state.find(' '));
  const auto found = std::ranges::find(k_states, state, &StateWords::state);
  return found == k_states.end() ? nullptr : &*found;
}

bool is_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

int leading_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> queue_command() {
  // Without --all, squeue hides jobs in hidden partitions, even from their owner. The name comes
  // last because it may contain a bar.
  return {"squeue", "--me", "--all", "--states=all", "--format=%i|%T|%r|%S|%e|%V|%D|%C|%N|%j"};
}

std::optional<std::vector<QueueRow>> parse_queue(std::string_view text) {
  constexpr std::string_view k_heading = "JOBID|STATE|";
  std::vector<QueueRow> rows;
  bool listed = false;
  std::istringstream lines{std::string(text)};
  for (std::string text_line; std::getline(lines, text_line);) {
    std::string_view line = text_line;
    listed = listed || line.starts_with(k_heading);
    std::array<std::string_view, 10> fields;
    std::size_t at = 0;
    for (; at + 1 < fields.size(); ++at) {
      const std::size_t bar = line.find('|');
      if (bar == std::string_view::npos) break;
      fields[at] = line.substr(0, bar);
      line.remove_prefix(bar + 1);
    }
    if (at + 1 < fields.size() || !is_id(fields[0]) || fields[1].empty()) continue;
    fields[at] = line;
    rows.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]),
                    parse_finite(fields[3]), parse_finite(fields[4]), parse_finite(fields[5]),
                    leading_number(fields[6]), leading_number(fields[7]), std::string(fields[8]),
                    std::string(fields[9])});
  }
  if (!listed) return std::nullopt;
  return rows;
}

std::vector<std::pair<std::string, std::string>> parse_steps(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> steps;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos) continue;
    const std::string_view id = std::string_view(line).substr(0, bar);
    const std::size_t dot = id.find('.');
    if (dot == std::string_view::npos || !is_id(id.substr(0, dot)) || !is_id(id.substr(dot + 1)))
      continue;
    steps.emplace_back(id, line.substr(bar + 1));
  }
  return steps;
}

JobPhase phase_of(std::string_view state) {
  const StateWords* known = find_state(state);
  return known == nullptr ? JobPhase::waiting : known->phase;
}

bool is_in_queue(std::string_view state) {
  return state == "PENDING" || state == "EXPEDITING";
}

std::string words_of(std::string_view state) {
  const StateWords* known = find_state(state);
  if (known != nullptr) return std::string(known->words);
  return fmt::format("in the state {}", printable_line(state, 40));
}

WaitKind wait_kind(std::string_view reason) {
  // Reasons may have text after a comma: `ReqNodeNotAvail, UnavailableNodes:n[1-4]`.
  reason = reason.substr(0, reason.find(','));
  for (const std::string_view held :
       {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "PartitionDown", "PartitionInactive",
        "launch failed requeued held", "job requeued in held state"}) {
    if (reason == held) return WaitKind::held;
  }
  for (const std::string_view never :
       {"PartitionNodeLimit", "PartitionTimeLimit", "PartitionConfig", "BadConstraints",
        "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed",
        "DependencyNeverSatisfied", "DeadLine", "ReservationDeleted", "QOSUsageThreshold"}) {
    if (reason == never) return WaitKind::never;
  }
  // When jobs end, a limit on the minutes of running jobs (`AssocGrpCPURunMinutesLimit`) has room
  // again, but a limit on used minutes does not.
  const bool used_up = contains(reason, "Minutes") && !contains(reason, "RunMinutes");
  const bool of_one_job = contains(reason, "PerJob") || reason.ends_with("PerNode") ||
                          reason.starts_with("QOSMin") || used_up;
  return of_one_job ? WaitKind::never : WaitKind::waits;
}

std::string first_host(std::string_view node_list) {
  std::string host;
  std::string_view rest = node_list;
  // A name may contain several number lists: `r[1-2]n[3-4]`.
  while (true) {
    const std::size_t open = rest.find_first_of("[,");
    host += rest.substr(0, open);
    if (open == std::string_view::npos || rest[open] == ',') return host;
    rest.remove_prefix(open + 1);
    const std::size_t end = rest.find_first_of(",-]");
    if (end == std::string_view::npos) return std::string(node_list);
    host += rest.substr(0, end);
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return host;
    rest.remove_prefix(close + 1);
  }
}

}  // namespace steptune::slurm
