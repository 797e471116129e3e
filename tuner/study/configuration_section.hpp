// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/study/node.hpp"
#include "tuner/study/parameter_section.hpp"

namespace steptune::study {

/// A configuration of `space`, each value in its parameter's own type (`1` is 1.0 for a float).
[[nodiscard]] std::optional<Configuration> read_configuration(const Node& node,
                                                              const SearchSpace& space);

/// `try`: configurations, each once.
[[nodiscard]] std::vector<Configuration> read_hints(const Node& node, const SearchSpace& space);

}  // namespace steptune::study
