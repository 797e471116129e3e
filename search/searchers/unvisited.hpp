// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "common/error.hpp"
#include "common/rng.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {

/// `visited` and the running configurations together.
[[nodiscard]] Visited with_running(const Visited& visited, std::span<const Configuration> running);

/// A configuration drawn at random that is not among `visited`: draws first, and when these keep
/// missing, one of those that enumeration finds left over. Nothing when the space is exhausted; an
/// error when that cannot be told because the space is too large to enumerate.
[[nodiscard]] Result<std::optional<Configuration>> draw_unvisited(const SearchSpace& space,
                                                                  const Visited& visited, Rng& rng);

}  // namespace steptune
