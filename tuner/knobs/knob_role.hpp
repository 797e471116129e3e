// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/space/parameter.hpp"

namespace steptune {

/// Purpose of a parameter in a training program.
enum class KnobRole {
  batch,          ///< samples computed at once
  accumulation,   ///< batches in one optimizer step
  workers,        ///< processes or threads that load data
  prefetch,       ///< batches that each worker loads ahead
  threads,        ///< threads of one operation or process
  precision,      ///< precision of the arithmetic
  compile,        ///< compilation of the model
  checkpointing,  ///< recomputing activations to save memory
  layout,         ///< memory layout of images
  transfer,       ///< transfer of batches to the device
  instance,       ///< type of the machine that runs a trial
  other,          ///< any other known parameter that affects only speed
};

/// Returns the role's name, which never changes: `batch`, `accumulation`, ...
[[nodiscard]] std::string to_text(KnobRole role);

/// Returns all names, in the order of `KnobRole`.
[[nodiscard]] std::vector<std::string> knob_role_names();

/// True if parameters of that role are numbers: of samples, workers, batches or threads.
[[nodiscard]] bool is_a_number(KnobRole role);

/// Returns the number that a value is, or that its text says; nullopt for other texts and for
/// flags.
[[nodiscard]] std::optional<double> number_in(const Value& value);

/// Returns the number that a configuration gives a parameter; `otherwise` if it gives none.
[[nodiscard]] double number_of(const Configuration& configuration, const Parameter& parameter,
                               double otherwise);

/// True if all values of the parameter are numbers.
[[nodiscard]] bool has_numbers(const Parameter& parameter);

/// Roles that a study file declares for its parameters, by name. nullopt: the parameter has no
/// role, whatever its name.
using KnobRoles = std::map<std::string, std::optional<KnobRole>>;

/// Returns the role of a parameter or option by its name; nullopt for an unknown name. The name
/// must be in lower case, with `_` for `-`, and without leading dashes or a path (`data.`).
[[nodiscard]] std::optional<KnobRole> role_of_name(std::string_view plain);

/// Returns the role that the study file declares for a parameter. If it declares none, returns the
/// role by its name.
[[nodiscard]] std::optional<KnobRole> role_of(const KnobRoles& declared, const std::string& name);

/// Returns `bf16` for `bfloat16`, `bf16-mixed` and the like, `fp16`, `fp32`, `tf32`; empty for
/// other texts.
[[nodiscard]] std::string precision_of(const std::string& choice);

}  // namespace steptune
