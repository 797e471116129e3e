// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "search/searcher.hpp"

namespace steptune {

/// Where the Bayesian module is looked for, in order: the directories of the environment variable
/// `STEPTUNE_MODULE_PATH` (separated by colons), then where modules are shipped
/// (common/shipped_files.hpp).
[[nodiscard]] std::vector<std::filesystem::path> bayes_module_directories();

/// Opens the first module found in `directories` and makes a searcher with it. The module stays
/// open for good: LibTorch does not survive being unloaded. Errors say what was looked for and
/// where, why it could not be opened, or that it is of another build.
[[nodiscard]] Result<std::unique_ptr<Searcher>> load_bayes_searcher(
    const std::vector<std::filesystem::path>& directories, const SearchSpace& space,
    const SearcherOptions& options);

}  // namespace steptune
