// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/subreaper.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "trial_runner/local/usage.hpp"

namespace steptune::local {

Subreaper::Subreaper()
    : since_ticks_(static_cast<std::uint64_t>(SystemClock{}.now_s() *
                                              static_cast<double>(::sysconf(_SC_CLK_TCK)))) {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Subreaper::~Subreaper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

void Subreaper::add_trial(pid_t main, std::vector<std::string> tags) {
  trials_.insert_or_assign(main, Trial{std::move(tags), {}});
}

Subreaper::ReapedUsage Subreaper::reaped_usage(pid_t main) const {
  const auto found = trials_.find(main);
  return found == trials_.end() ? ReapedUsage{} : found->second.reaped;
}

bool Subreaper::is_stray(const ProcessId& child) {
  // The environment of a dead process cannot be read any more, so remember the result.
  if (strays_.contains(child)) return true;
  const bool is_tagged = std::ranges::any_of(
      trials_, [&](const auto& trial) { return environment_has(child.pid, trial.second.tags); });
  if (is_tagged) strays_.insert(child);
  return is_tagged;
}

Subreaper::Trial* Subreaper::owner_of(const ProcessStat& orphan) {
  if (const auto found = trials_.find(orphan.group); found != trials_.end()) return &found->second;
  if (trials_.size() == 1) return &trials_.begin()->second;
  for (auto& [main, trial] : trials_) {
    if (environment_has(orphan.id.pid, trial.tags)) return &trial;
  }
  return nullptr;
}

std::vector<ProcessStat> Subreaper::orphans_of(pid_t main) {
  const auto wanted = trials_.find(main);
  std::vector<ProcessStat> orphans;
  for (const pid_t pid : adopted_children_of_self()) {
    if (helpers_.contains(pid) || trials_.contains(pid)) continue;
    const auto stat = read_stat(pid);
    // Skip children that are older than this object: jobs of a shell that became this program by
    // exec, or orphans that a container's first process inherited.
    if (!stat || stat->id.start_ticks < since_ticks_) continue;
    if (stat->group == ::getpgrp() && !is_stray(stat->id)) continue;
    Trial* owner = owner_of(*stat);
    if (stat->is_zombie()) {
      strays_.erase(stat->id);
      rusage usage{};
      if (::wait4(pid, nullptr, WNOHANG, &usage) == pid && owner != nullptr) {
        owner->reaped.cpu_s += cpu_seconds(usage);
        owner->reaped.storage_read_bytes += storage_read_bytes(usage);
      }
    } else if (wanted != trials_.end() && owner == &wanted->second) {
      std::vector<ProcessStat> tree = process_tree(pid);
      // If the process has just died, the next call reaps it.
      if (tree.empty()) tree.push_back(*stat);
      std::ranges::move(tree, std::back_inserter(orphans));
    }
  }
  return orphans;
}

}  // namespace steptune::local
