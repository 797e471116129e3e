// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/study/study_spec.hpp"
#include "tuner/study/text_template.hpp"

namespace steptune::study {

/// The text that templates get for a parameter: the one behind a labelled choice. Nothing where the
/// parameter is inactive.
[[nodiscard]] std::optional<std::string> value_text(const StudySpec& study,
                                                    const Configuration& configuration,
                                                    const std::string& name);

/// Expressions and templates of a `StudySpec` have been checked when it was read, so that a fault
/// in one is the program's own: these throw `std::logic_error`.
[[nodiscard]] Expression compiled(const StudySpec& study, const std::string& text);
[[nodiscard]] TextTemplate parsed(const std::string& text);

}  // namespace steptune::study
