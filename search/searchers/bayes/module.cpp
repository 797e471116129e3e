// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "search/searchers/bayes/bayes_searcher.hpp"
#include "search/searchers/bayes_module.hpp"

std::uint32_t steptune_bayes_abi() {
  return steptune::k_bayes_module_abi;
}

steptune::Searcher* steptune_bayes_make(const steptune::SearchSpace* space,
                                        const steptune::SearcherOptions* options,
                                        steptune::Error* error) {
  using steptune::Error;
  using steptune::ErrorKind;
  const std::size_t objectives = options->objectives.size();
  if (objectives < 1 || objectives > 2) {
    *error = Error{ErrorKind::usage,
                   "the bayes searcher optimizes one objective or two",
                   {},
                   "name at most two objectives, or choose another searcher"};
    return nullptr;
  }
  try {
    return new steptune::bayes::BayesSearcher(*space, *options);
  } catch (const std::exception& exception) {
    *error = Error{ErrorKind::internal,
                   std::string("cannot start the bayes searcher: ") + exception.what(),
                   {},
                   {}};
    return nullptr;
  }
}
