// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/runner.hpp"

namespace steptune::slurm {

struct StepScript {
  std::string mark_word;  ///< random word, so that the trial's own output never looks like a mark
  int nodes = 1;
  int tasks = 1;
  std::string head_host;  ///< first host of the allocation
  int port = 0;           ///< port of the tasks' rendezvous
  std::string setup;      ///< shell code that runs before the program
  /// Path of PyTorch's hook on the nodes; empty: the trial has no hook (`TrialSpec::python_path`).
  std::string python_path{};
};

/// True if the program gets a port for the rendezvous of its processes, because it has several
/// tasks or is torchrun.
[[nodiscard]] bool has_rendezvous(const TrialSpec& spec, int tasks);

/// Returns the script that `/bin/sh -c` runs as each task of a trial's step. The script prints a
/// mark with the node and the start. It sets ranks and the study's variables, and enters the
/// trial's folder. It runs the program with exactly its arguments, and prints a mark with the exit
/// status. For several tasks, it also sets variables with the rank and the rendezvous for
/// torch.distributed; for torchrun, variables with the rendezvous. Returns a `usage` error if there
/// is a NUL byte, if no shell can export a variable's name, or if the script is too long.
[[nodiscard]] Result<std::string> step_script(const TrialSpec& spec, const StepScript& script);

/// Extracts the tasks' marks from a step's output. Output of several tasks may be mixed at any
/// byte, so only complete marks count.
class StepMarks {
 public:
  StepMarks(std::string mark_word, int tasks);

  /// Reads output. Passes bytes that are not marks to `on_output` at once and in order. Keeps an
  /// incomplete mark until the rest arrives.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& on_output);

  [[nodiscard]] int started() const { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] bool all_started() const { return started() == tasks_; }
  [[nodiscard]] int exited() const { return static_cast<int>(statuses_.size()); }
  [[nodiscard]] bool all_succeeded() const;
  /// Returns the exit status of the first task that failed by itself, because that task explains
  /// the trial's end. If all failed tasks were ended by SIGTERM or SIGKILL, returns the status of
  /// the first of them. nullopt: no task has failed.
  [[nodiscard]] std::optional<int> failure() const;
  /// True if every failed task so far was ended by SIGTERM or SIGKILL.
  [[nodiscard]] bool only_ended() const;
  /// True if a task got SIGTERM before any task had failed by itself, so that the step was ended
  /// from outside.
  [[nodiscard]] bool was_asked_to_end() const { return was_asked_to_end_; }
  [[nodiscard]] bool folder_missing() const { return folder_missing_; }
  /// Returns the step's id, such as `12.3`; empty until a task has started.
  [[nodiscard]] const std::string& step_id() const { return step_id_; }
  /// Returns the host of each started task.
  [[nodiscard]] const std::map<int, std::string>& hosts() const { return hosts_; }
  /// Returns kernel releases and CPU models of the nodes whose first task has reported, without
  /// duplicates. Empty if an older version of Steptune started the step.
  [[nodiscard]] const std::set<std::string>& kernels() const { return kernels_; }
  [[nodiscard]] const std::set<std::string>& cpus() const { return cpus_; }

 private:
  /// Returns false if the mark is incomplete.
  [[nodiscard]] bool take(std::string_view mark);
  /// Parses `KERNEL MODEL ;`. The model may contain blanks, and is missing if the system reports
  /// none.
  [[nodiscard]] bool take_node(std::istream& words);
  void take_end(int status, bool on_request);

  std::string prefix_;
  int tasks_;
  std::string pending_;
  std::map<int, std::string> hosts_;
  std::set<std::string> kernels_;
  std::set<std::string> cpus_;
  std::map<int, int> statuses_;
  std::vector<int> failures_;
  bool was_asked_to_end_ = false;
  std::optional<int> own_failure_;
  std::string step_id_;
  bool folder_missing_ = false;
};

}  // namespace steptune::slurm
