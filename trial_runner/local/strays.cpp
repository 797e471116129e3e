// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/strays.hpp"

#include <utility>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial_runner/local/usage.hpp"

namespace steptune::local {

Strays::Strays() {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Strays::~Strays() {
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

void Strays::add_trial(pid_t main, std::vector<std::string> marks) {
  trials_.insert_or_assign(main, Trial{std::move(marks)});
}

double Strays::reaped_cpu_s(pid_t main) const {
  const auto found = trials_.find(main);
  return found == trials_.end() ? 0.0 : found->second.reaped_cpu_s;
}

Strays::Trial* Strays::owner_of(const ProcessStat& stray) {
  if (const auto found = trials_.find(stray.group); found != trials_.end()) return &found->second;
  if (trials_.size() == 1) return &trials_.begin()->second;
  for (auto& [main, trial] : trials_) {
    if (environment_has(stray.id.pid, trial.marks)) return &trial;
  }
  return nullptr;
}

std::vector<ProcessStat> Strays::of(pid_t main) {
  const auto wanted = trials_.find(main);
  std::vector<ProcessStat> strays;
  for (const pid_t pid : adopted_children_of_self()) {
    if (pid == guard_ || trials_.contains(pid)) continue;
    const auto stat = read_stat(pid);
    if (!stat || stat->group == ::getpgrp()) continue;
    Trial* owner = owner_of(*stat);
    if (stat->is_zombie()) {
      rusage usage{};
      if (::wait4(pid, nullptr, WNOHANG, &usage) == pid && owner != nullptr) {
        owner->reaped_cpu_s += cpu_seconds(usage);
      }
    } else if (wanted != trials_.end() && owner == &wanted->second) {
      for (ProcessStat& member : process_tree(pid))
        strays.push_back(std::move(member));
    }
  }
  return strays;
}

std::vector<ProcessStat> process_tree(pid_t root) {
  std::vector<ProcessStat> tree;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    const auto stat = read_stat(pid);
    if (!stat) continue;
    if (!stat->is_zombie()) tree.push_back(*stat);
    for (const pid_t child : children_of(pid))
      open.push_back(child);
  }
  return tree;
}

}  // namespace steptune::local
