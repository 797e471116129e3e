// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "search/searcher.hpp"
#include "search/searchers/bayes_module.hpp"

namespace steptune {

/// Where the Bayesian module is looked for, in order: the directories of the environment variable
/// `STEPTUNE_MODULE_PATH` (separated by colons), then where modules are shipped
/// (common/shipped_files.hpp).
[[nodiscard]] std::vector<std::filesystem::path> bayes_module_directories();

/// The first module found in `directories`; `not_found` tells where it was looked for.
[[nodiscard]] Result<std::filesystem::path> find_bayes_module(
    const std::vector<std::filesystem::path>& directories);

/// Opens a module and returns its function that makes searchers (`steptune_bayes_make`). The module
/// stays open for good: LibTorch does not survive being unloaded. Errors say why it could not be
/// opened, or that it is of another build. May be called on any thread.
[[nodiscard]] Result<BayesMakeFunction*> open_bayes_module(const std::filesystem::path& file);

/// A searcher made by an opened module.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_bayes_searcher(BayesMakeFunction* make,
                                                                    const SearchSpace& space,
                                                                    const SearcherOptions& options);

/// Finds and opens the module and makes a searcher with it; 0.3 to 1 s.
[[nodiscard]] Result<std::unique_ptr<Searcher>> load_bayes_searcher(
    const std::vector<std::filesystem::path>& directories, const SearchSpace& space,
    const SearcherOptions& options);

/// The same searcher, whose module is opened on a thread of its own while the caller goes on: what
/// it is told waits until it is first asked something, and asking waits for the module. A module
/// that is not installed is an error here, one that cannot be opened an error of the first
/// `suggest`. Destroying it waits for the thread.
[[nodiscard]] Result<std::unique_ptr<Searcher>> load_bayes_searcher_in_background(
    const std::vector<std::filesystem::path>& directories, const SearchSpace& space,
    const SearcherOptions& options);

}  // namespace steptune
