// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "search/searchers/bayes/acquisition.hpp"

namespace steptune::bayes {

/// How the parts of a training step make up the whole.
enum class Composition { sum, maximum };

/// The parts' composition as such: parts that follow each other add up, parts that overlap take as
/// long as the longest.
[[nodiscard]] double compose(Composition composition, std::span<const double> parts);

/// The logarithm of the composition of independent parts whose logarithms are normal, approximated
/// by a normal: moments of a sum of log-normals (Fenton 1960), or of the larger of two normals, one
/// part after the other (Clark 1961).
[[nodiscard]] Normal compose_logarithms(Composition composition, std::span<const Normal> log_parts);

}  // namespace steptune::bayes
