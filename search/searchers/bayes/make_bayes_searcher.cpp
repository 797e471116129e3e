// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/bayes/bayes_searcher.hpp"

namespace steptune {

Result<std::unique_ptr<Searcher>> make_bayes_searcher(const SearchSpace& space,
                                                      const SearcherOptions& options) {
  if (options.objectives.empty() || options.objectives.size() > 2) {
    return fail(ErrorKind::usage, "the bayes searcher optimizes one objective or two", {},
                "name at most two objectives, or choose another searcher");
  }
  return std::make_unique<bayes::BayesSearcher>(space, options);
}

}  // namespace steptune
