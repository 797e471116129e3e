// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"

namespace steptune {

/// What another value of a knob does to the training.
enum class KnobClass {
  safe,      ///< the same training
  numeric,   ///< rounding differs: wants a guard on the loss
  semantic,  ///< another training: only when asked for
};

/// One setting that PyTorch's import hook can put into a program that has no option for it, as
/// `pytorch/knobs.json` describes it (docs/internals/hooks-protocol.md).
struct Knob {
  std::string name;
  KnobClass knob_class = KnobClass::safe;
  Json parameter;           ///< as in a study file: type, range, choices, condition
  bool switchable = false;  ///< between two steps of a running program
  std::string part;         ///< of a step, that it can shorten; empty: no one part
  std::string device;       ///< on which alone it is worth offering; empty: on all
  std::string may_break;    ///< what there may be in a program that it makes fail; empty: nothing
  /// For one that is set before the program starts: variables by value. Null for others.
  Json environment;
  Json today;  ///< for such a one: its value where none of its variables is set, else null
  Json edit;   ///< how a person makes it last
  std::string doc;

  [[nodiscard]] bool in_environment() const { return !environment.is_null(); }
};

/// All knobs, in the order of the table, which is compiled in.
[[nodiscard]] const std::vector<Knob>& pytorch_knobs();
/// Null for a name that no knob has.
[[nodiscard]] const Knob* find_pytorch_knob(std::string_view name);
[[nodiscard]] std::vector<std::string> pytorch_knob_names();

/// Why `value` cannot be one of the knob's; nothing if it can. Ranges are left to the hook, which
/// knows the machine.
[[nodiscard]] std::optional<std::string> why_not_value_of(const Knob& knob, const Value& value);

/// The member of `by_value` for this value's text, else the one for any, `*`; null if neither is
/// there.
[[nodiscard]] const Json* find_by_value(const Json& by_value, const Value& value);
/// `text` with `{value}` replaced.
[[nodiscard]] std::string with_value(std::string text, std::string_view value);

}  // namespace steptune
