// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

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
  other,          ///< another known one that changes speed alone
};

/// Persistent names: `batch`, `accumulation`, ...
[[nodiscard]] std::string to_text(KnobRole role);

/// The role of a parameter or option by its name in small letters, `_` for `-`, without leading
/// dashes and the path before the last dot. Nothing for a name that none of the usual ones is like.
[[nodiscard]] std::optional<KnobRole> role_of_name(std::string_view plain);

/// `bf16` for `bfloat16`, `bf16-mixed` and the like, `fp16`, `fp32`, `tf32`; empty for others.
[[nodiscard]] std::string precision_of(const std::string& choice);

}  // namespace steptune
