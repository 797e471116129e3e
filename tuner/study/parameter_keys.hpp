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
  std::map<std::string, std::string> strings;  ///< behind the labels of its choices, if it has any
  /// What it does in the program: an index of `role_names`; nothing: its name tells.
  std::optional<std::size_t> role;
};

/// `int`, `float`, ...: in the order of `ParameterKind`.
[[nodiscard]] const std::vector<std::string>& parameter_types();

/// `batch`, ..., as `KnobRole`, and `none`.
[[nodiscard]] const std::vector<std::string>& role_names();

/// The keys of a parameter of that kind.
[[nodiscard]] const document::Section<DeclaredParameter>& parameter_section(ParameterKind kind);
/// Each section once.
[[nodiscard]] std::vector<const document::Section<DeclaredParameter>*> parameter_sections();

}  // namespace steptune::study
