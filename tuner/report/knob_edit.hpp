// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/hooks/knob_table.hpp"

namespace steptune {

/// An edit of the program that sets one knob permanently. Members that the edit does not need are
/// empty.
struct KnobEdit {
  std::string call;                ///< class or function that takes the argument: `DataLoader`
  std::string argument;            ///< `num_workers=6`
  std::string remark;              ///< warning about this call
  std::vector<std::string> lines;  ///< statements: `torch.set_num_threads(2)`
  std::string place;  ///< place for the lines if the hook saw none: `in the training loop`
  std::string shell;  ///< variables before the command: `OMP_WAIT_POLICY=passive`
};
/// Returns the edit for a value. If the hook saw that a trainer has its own argument for this value
/// (such as one of `TrainingArguments`), uses this argument. Otherwise uses the edit in the table
/// of knobs.
[[nodiscard]] KnobEdit knob_edit(const Knob& knob, const Value& value, const KnobState& state);

/// Returns the files and lines that the hook saw, each once: `train.py:114`.
[[nodiscard]] std::vector<std::string> edit_places(const KnobState& state);

/// Returns the name of the called class or function, as the hook saw it. If the hook saw none,
/// returns the name in the table of knobs.
[[nodiscard]] std::string called_there(const KnobEdit& edit, const std::vector<std::string>& where);

}  // namespace steptune
