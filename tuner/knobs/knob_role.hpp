// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/space/parameter.hpp"

namespace steptune {

/// What a parameter of a training program does, whatever the program.
enum class KnobRole {
  batch,          ///< samples that are computed at once
  accumulation,   ///< batches of one optimizer step
  workers,        ///< processes or threads that load data
  prefetch,       ///< batches that each of them loads ahead
  threads,        ///< of one operation, or of one process
  precision,      ///< of the arithmetic
  compile,        ///< whether the model is compiled
  checkpointing,  ///< whether activations are computed again to save memory
  layout,         ///< of pictures in memory
  transfer,       ///< how batches get to the device
  instance,       ///< type of the machine that a trial runs on
  other,          ///< another known one that changes speed alone
};

/// Persistent names: `batch`, `accumulation`, ...
[[nodiscard]] std::string to_text(KnobRole role);

/// All of them, in the order of `KnobRole`.
[[nodiscard]] std::vector<std::string> knob_role_names();

/// Whether a parameter of that role is a number: of samples, workers, batches or threads.
[[nodiscard]] bool is_a_number(KnobRole role);

/// A number, which a choice may write as a string; nothing for what is none, and for flags.
[[nodiscard]] std::optional<double> number_in(const Value& value);

/// Whether all values of the parameter are numbers.
[[nodiscard]] bool has_numbers(const Parameter& parameter);

/// What a study file says of its parameters' roles, by name; nothing: the parameter has none,
/// whatever it is called.
using KnobRoles = std::map<std::string, std::optional<KnobRole>>;

/// The role of a parameter or option by its name in small letters, `_` for `-`, without leading
/// dashes and the path before the last dot. Nothing for a name that none of the usual ones is like.
[[nodiscard]] std::optional<KnobRole> role_of_name(std::string_view plain);

/// The role that the study file declares for a parameter, else the one that its name tells.
[[nodiscard]] std::optional<KnobRole> role_of(const KnobRoles& declared, const std::string& name);

/// `bf16` for `bfloat16`, `bf16-mixed` and the like, `fp16`, `fp32`, `tf32`; empty for others.
[[nodiscard]] std::string precision_of(const std::string& choice);

}  // namespace steptune
