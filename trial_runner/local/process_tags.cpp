// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/process_tags.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "trial_runner/trial_name.hpp"

namespace steptune::local {
namespace {

using ProcessTable = std::map<pid_t, ProcessStat>;

ProcessTable read_table() {
  ProcessTable table;
  for (const pid_t pid : all_processes()) {
    if (auto stat = read_stat(pid)) table.emplace(pid, *stat);
  }
  return table;
}

/// True if the process still exists. After its end, another process may have the same number and
/// group.
bool is_still_there(const ProcessId& process, const ProcessTable& table) {
  const auto found = table.find(process.pid);
  return found != table.end() && found->second.id == process;
}

}  // namespace

std::string run_tag_entry(std::string_view run_tag) {
  return fmt::format("STEPTUNE_RUN={}", run_tag);
}

std::string trial_tag_entry(TrialKey key) {
  return fmt::format("{}={}", k_trial_variable, trial_name(key));
}

std::vector<ProcessId> find_tagged_processes(std::span<const std::string> entries,
                                             std::span<const ProcessId> processes) {
  const ProcessTable table = read_table();
  std::set<pid_t> groups;
  std::vector<pid_t> found;
  for (const ProcessId& process : processes) {
    if (!is_still_there(process, table)) continue;
    groups.insert(process.pid);
    found.push_back(process.pid);
  }
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, stat] : table) {
    children.emplace(stat.parent, pid);
    if (groups.contains(stat.group) || environment_has(pid, entries)) found.push_back(pid);
  }
  std::set<pid_t> members;
  while (!found.empty()) {
    const pid_t pid = found.back();
    found.pop_back();
    if (!members.insert(pid).second) continue;
    const auto [begin, end] = children.equal_range(pid);
    for (auto child = begin; child != end; ++child)
      found.push_back(child->second);
  }
  std::vector<ProcessId> marked;
  for (const pid_t pid : members) {
    const ProcessStat& stat = table.at(pid);
    if (pid != ::getpid() && !stat.is_zombie()) marked.push_back(stat.id);
  }
  return marked;
}

}  // namespace steptune::local
