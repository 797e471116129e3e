// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes_module.hpp"

// A module from a build whose interface differs.
std::uint32_t steptune_bayes_abi() {
  return UINT32_MAX;
}

steptune::Searcher* steptune_bayes_make(const steptune::SearchSpace*,
                                        const steptune::SearcherOptions*, steptune::Error*) {
  return nullptr;
}
