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

/// Makes this process a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): descendants of trials whose
/// own parents have died, orphans, become its children, and it has to reap them. While it lives,
/// every child of this process that is younger than it, not registered here and not in this
/// process's own group (or there, with a trial's tags) is taken for an orphan of a trial; so at
/// most one at a time.
class Subreaper {
 public:
  Subreaper();
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
  /// Restores the process's former role.
  ~Subreaper();

  /// A trial's main process and the tags of all its processes, as environment entries.
  void add_trial(pid_t main, std::vector<std::string> tags);
  void remove_trial(pid_t main) { trials_.erase(main); }
  /// A child of this process that belongs to no trial and that others reap.
  void add_helper(pid_t helper) { helpers_.insert(helper); }
  void remove_helper(pid_t helper) { helpers_.erase(helper); }

  /// The live orphans of a trial and all their descendants. Dead orphans are reaped on the way. One
  /// without its trial's tags is counted to it if no other trial runs.
  [[nodiscard]] std::vector<ProcessStat> orphans_of(pid_t main);

  /// As given to `add_trial`.
  [[nodiscard]] const std::vector<std::string>& tags_of(pid_t main) const {
    return trials_.at(main).tags;
  }

  /// What the trial's orphans that have been reaped used.
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
  /// Whether a child in this process's group is a trial's.
  [[nodiscard]] bool is_stray(const ProcessId& child);
  /// Null: unknown.
  [[nodiscard]] Trial* owner_of(const ProcessStat& orphan);

  std::map<pid_t, Trial> trials_;
  std::set<pid_t> helpers_;
  std::set<ProcessId> strays_;
  std::uint64_t since_ticks_;  ///< of the kernel's clock, as in `ProcessId`
  int was_subreaper_ = 0;
};

}  // namespace steptune::local
