// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "search/searcher.hpp"

/// What `libsteptune_bayes.so` exports and `make_searcher("bayes", ...)` looks up. The module is
/// opened at run time so that programs which never search do not load LibTorch. Both sides are
/// built from one source tree by one compiler: C++ types cross the boundary, and the version number
/// guards against a module left over from another build.
namespace steptune {

/// Raised whenever this file, `search/searcher.hpp`, `search/observation.hpp` or a class that they
/// pass changes its layout.
inline constexpr std::uint32_t k_bayes_module_abi = 7;

/// File that the loader looks for.
inline constexpr const char* k_bayes_module_file = "libsteptune_bayes.so";

/// `steptune_bayes_abi`: returns the `k_bayes_module_abi` that the module was built with. Called
/// before anything else.
inline constexpr const char* k_bayes_abi_symbol = "steptune_bayes_abi";
using BayesAbiFunction = std::uint32_t();

/// `steptune_bayes_make`: a new searcher, to be deleted by the caller, or null with `*error`
/// filled. No pointer is null; `space` outlives the searcher. Never throws.
inline constexpr const char* k_bayes_make_symbol = "steptune_bayes_make";
using BayesMakeFunction = Searcher*(const SearchSpace* space, const SearcherOptions* options,
                                    Error* error);

}  // namespace steptune

/// The module defines these two with default visibility.
extern "C" {
std::uint32_t steptune_bayes_abi();
steptune::Searcher* steptune_bayes_make(const steptune::SearchSpace* space,
                                        const steptune::SearcherOptions* options,
                                        steptune::Error* error);
}
