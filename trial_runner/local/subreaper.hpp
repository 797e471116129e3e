// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/machine/processes.hpp"

namespace steptune::local {

/// Makes this process a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER). If a trial's process outlives
/// its parent, this orphan becomes a child of this process, which must reap it. A child that
/// started after this object was made and is not registered here counts as a trial's orphan. If the
/// child is in this process's own group, it counts only if it has a trial's tags. So only one
/// object may exist at a time.
class Subreaper {
 public:
  Subreaper();
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
  /// Restores the process's former setting of PR_SET_CHILD_SUBREAPER.
  ~Subreaper();

  /// Registers a trial's main process and the tags of all its processes, as environment entries.
  void add_trial(pid_t main, std::vector<std::string> tags);
  void remove_trial(pid_t main) { trials_.erase(main); }
  /// Registers a child of this process that belongs to no trial and that other code reaps.
  void add_helper(pid_t helper) { helpers_.insert(helper); }
  void remove_helper(pid_t helper) { helpers_.erase(helper); }

  /// Returns the live orphans of a trial and all their descendants. Reaps dead orphans. If only one
  /// trial runs, orphans without tags count as its own.
  [[nodiscard]] std::vector<ProcessStat> orphans_of(pid_t main);

  /// Returns the tags given to `add_trial`.
  [[nodiscard]] const std::vector<std::string>& tags_of(pid_t main) const {
    return trials_.at(main).tags;
  }

  /// Resources used by the trial's reaped orphans.
  struct ReapedUsage {
    double cpu_s = 0.0;
    double storage_read_bytes = 0.0;
  };
  [[nodiscard]] ReapedUsage reaped_usage(pid_t main) const;

 private:
  struct Trial {
    std::vector<std::string> tags;
    ReapedUsage reaped;
  };
  /// True if a child in this process's group belongs to a trial.
  [[nodiscard]] bool is_stray(const ProcessId& child);
  /// Returns null if the owner is unknown.
  [[nodiscard]] Trial* owner_of(const ProcessStat& orphan);

  std::map<pid_t, Trial> trials_;
  std::set<pid_t> helpers_;
  std::set<ProcessId> strays_;
  std::uint64_t since_ticks_;  ///< in ticks of the kernel's clock, as in `ProcessId`
  int was_subreaper_ = 0;
};

}  // namespace steptune::local
