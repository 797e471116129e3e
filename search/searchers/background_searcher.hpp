// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "search/searcher.hpp"

namespace steptune {

/// As `make_searcher`, but `bayes` opens its module while the caller goes on: with what the
/// searcher is told first, or with a first trial. The first suggestion waits for it, and tells if
/// it could not be opened; a module that is not installed is told on this call.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_searcher_in_background(
    const std::string& name, const SearchSpace& space, const SearcherOptions& options);

}  // namespace steptune
