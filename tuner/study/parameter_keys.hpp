// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/document/section.hpp"
#include "search/space/parameter.hpp"

namespace steptune::study {

/// A parameter as the study file declares it.
struct DeclaredParameter {
  Parameter parameter;
  /// Texts for the labels of the parameter's choices, if the choices have labels.
  std::map<std::string, std::string> strings;
  /// Role of the parameter in the program: an index of `role_names`. Unset: the name decides.
  std::optional<std::size_t> role;
};

/// Returns `int`, `float`, ..., in the order of `ParameterKind`.
[[nodiscard]] const std::vector<std::string>& parameter_types();

/// Returns `batch`, ..., in the order of `KnobRole`, then `none`.
[[nodiscard]] const std::vector<std::string>& role_names();

/// Returns the keys of a parameter of that kind.
[[nodiscard]] const document::Section<DeclaredParameter>& parameter_section(ParameterKind kind);
/// Returns all sections, each once: `int` and `float` share one.
[[nodiscard]] std::vector<const document::Section<DeclaredParameter>*> parameter_sections();

}  // namespace steptune::study
