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
  std::string mark_word;  ///< random: what the trial prints itself is not taken for a mark
  int nodes = 1;
  int tasks = 1;
  std::string head_host;  ///< of the allocation
  int port = 0;           ///< for the tasks' meeting
  std::string setup;      ///< shell text before the program
  /// PyTorch's hook as the nodes see it, where the trial has it (`TrialSpec::python_path`).
  std::string python_path{};
};

/// Whether a step's program is told a port to meet at: where it has several tasks, or is torchrun.
[[nodiscard]] bool has_meeting(const TrialSpec& spec, int tasks);

/// The text that `/bin/sh -c` runs as each task of a trial's step: marks node and start, sets ranks
/// and the study's variables, goes to the trial's folder, runs the program byte-exact and marks its
/// exit status. Several tasks get the variables by which torch.distributed finds its ranks, and
/// torchrun those by which its nodes meet. Errors (`usage`): a NUL byte, a variable's name that no
/// shell can export, a text that is too long for the system.
[[nodiscard]] Result<std::string> step_script(const TrialSpec& spec, const StepScript& script);

/// What tasks have marked, cut out of a step's output. Output of several tasks may be mixed at any
/// byte; a mark counts once it has come in one piece.
class StepMarks {
 public:
  StepMarks(std::string mark_word, int tasks);

  /// Calls `on_output` for what is no mark, in order. Of a mark that is not complete nothing is
  /// passed on yet; anything else at once.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& on_output);

  [[nodiscard]] int started() const { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] bool all_started() const { return started() == tasks_; }
  [[nodiscard]] int exited() const { return static_cast<int>(statuses_.size()); }
  [[nodiscard]] bool all_succeeded() const;
  /// The exit status that explains the trial's end: of the task that failed first, those that were
  /// only ended with it (SIGTERM, SIGKILL) last; nothing while none has failed.
  [[nodiscard]] std::optional<int> failure() const;
  /// Whether every failure so far is that of a task that was ended by a signal to end.
  [[nodiscard]] bool only_ended() const;
  /// Whether a task was sent SIGTERM before any task had failed by itself: its end is not its own.
  [[nodiscard]] bool told_to_end() const { return told_; }
  [[nodiscard]] bool folder_missing() const { return folder_missing_; }
  /// `12.3`; empty until a task has started.
  [[nodiscard]] const std::string& step_id() const { return step_id_; }
  /// Hosts by task.
  [[nodiscard]] const std::map<int, std::string>& hosts() const { return hosts_; }
  /// Of the nodes whose first tasks have told, each once: releases of their kernels, models of
  /// their processors. Empty of a step that an older version started.
  [[nodiscard]] const std::set<std::string>& kernels() const { return kernels_; }
  [[nodiscard]] const std::set<std::string>& cpus() const { return cpus_; }

 private:
  /// False: it is not whole.
  [[nodiscard]] bool take(std::string_view mark);
  /// `KERNEL MODEL ;`, the model with blanks, or nothing where the system tells none.
  [[nodiscard]] bool take_node(std::istream& words);
  void take_end(int status, bool told);

  std::string prefix_;
  int tasks_;
  std::string pending_;
  std::map<int, std::string> hosts_;
  std::set<std::string> kernels_;
  std::set<std::string> cpus_;
  std::map<int, int> statuses_;
  std::vector<int> failures_;
  bool told_ = false;
  std::optional<int> own_failure_;
  std::string step_id_;
  bool folder_missing_ = false;
};

}  // namespace steptune::slurm
