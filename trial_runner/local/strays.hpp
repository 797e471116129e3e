// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "trial_runner/local/proc.hpp"

namespace steptune::local {

/// Descendants of trials whose own parents have died. As a subreaper this process inherits them,
/// and with them the duty to reap them. While it lives, every child of this process that is neither
/// registered here nor in this process's own group is taken for a stray; so at most one at a time.
class Strays {
 public:
  Strays();
  Strays(const Strays&) = delete;
  Strays& operator=(const Strays&) = delete;
  /// The process's former role is restored.
  ~Strays();

  /// A trial's main process and the environment entries of all its processes.
  void add_trial(pid_t main, std::vector<std::string> marks);
  void remove_trial(pid_t main) { trials_.erase(main); }
  /// A child that is none of a trial's.
  void set_guard(pid_t guard) { guard_ = guard; }

  /// The live strays of a trial and all their descendants. Dead strays are reaped on the way. One
  /// that bears no sign of its trial is counted to it if no other trial runs.
  [[nodiscard]] std::vector<ProcessStat> of(pid_t main);

  /// As given to `add_trial`.
  [[nodiscard]] const std::vector<std::string>& marks_of(pid_t main) const {
    return trials_.at(main).marks;
  }

  /// CPU time of the trial's strays that have been reaped.
  [[nodiscard]] double reaped_cpu_s(pid_t main) const;

 private:
  struct Trial {
    std::vector<std::string> marks;
    double reaped_cpu_s = 0.0;
  };
  /// Null: not known whose.
  [[nodiscard]] Trial* owner_of(const ProcessStat& stray);

  std::map<pid_t, Trial> trials_;
  pid_t guard_ = 0;
  int was_subreaper_ = 0;
};

/// A process and all its descendants that can be reached from it, zombies aside.
[[nodiscard]] std::vector<ProcessStat> process_tree(pid_t root);

}  // namespace steptune::local
