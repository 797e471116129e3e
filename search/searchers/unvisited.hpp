// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "common/rng.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {

/// `visited` and the running configurations together.
[[nodiscard]] Visited with_running(const Visited& visited, std::span<const Configuration> running);

/// A configuration drawn at random whose point `admissible` accepts: draws first, and when these
/// keep missing, one of those that enumeration finds left over. Where none was found, why, for
/// people: there is none, or a space too large to enumerate did not show one.
[[nodiscard]] tl::expected<Configuration, std::string> draw_unvisited(
    const SearchSpace& space, const std::function<bool(std::span<const double>)>& admissible,
    Rng& rng);

}  // namespace steptune
