// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"

namespace steptune {

/// Effect of another value of a knob on the training.
enum class KnobClass {
  safe,      ///< the same training
  numeric,   ///< rounding differs, so use a guard on the loss
  semantic,  ///< another training; only on request
};

/// A setting that the Python hook can change in a program without an option for it, as described in
/// a table of knobs (docs/internals/hooks-protocol.md).
struct Knob {
  std::string name;
  KnobClass knob_class = KnobClass::safe;
  Json parameter;           ///< as in a study file: type, range, choices, condition
  bool switchable = false;  ///< can be switched between two steps of a running program
  std::string part;         ///< part of a step that it can shorten; empty: none in particular
  std::string device;       ///< the only device for which to offer it; empty: all
  std::string may_break;    ///< parts of programs that may fail with it; empty: none
  /// Variables by value, for a knob that is set before the program starts; null for others.
  Json environment;
  Json today;  ///< for such a knob: its value if none of its variables is set; otherwise null
  Json edit;   ///< how a person makes it permanent
  std::string doc;

  [[nodiscard]] bool in_environment() const { return !environment.is_null(); }
};

/// Returns the knobs of all families, in the order of the compiled-in tables. Families may share
/// knobs.
[[nodiscard]] const std::vector<Knob>& python_knobs();
/// Returns the knobs of one family, in the order of its table; none if there is no such family.
[[nodiscard]] std::vector<const Knob*> python_knobs_of(std::string_view family);
/// Returns the families that have one of these knobs. Ignores knobs of the common table, which
/// several families have.
[[nodiscard]] std::set<std::string> families_of_knobs(const std::set<std::string>& names);
/// Returns the names of all families.
[[nodiscard]] std::set<std::string> python_families();
/// Returns null if no knob has this name.
[[nodiscard]] const Knob* find_python_knob(std::string_view name);
[[nodiscard]] std::vector<std::string> python_knob_names();

/// Says why `value` cannot be a value of the knob; nullopt if it can. Does not check ranges,
/// because the hook knows the machine.
[[nodiscard]] std::optional<std::string> why_not_value_of(const Knob& knob, const Value& value);

/// Returns the member of `by_value` for this value's text, otherwise the member `*`; null if there
/// is neither.
[[nodiscard]] const Json* find_by_value(const Json& by_value, const Value& value);
/// Returns `text` with `{value}` replaced.
[[nodiscard]] std::string with_value(std::string text, std::string_view value);

}  // namespace steptune
