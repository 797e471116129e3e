// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "common/text.hpp"
#include "search/searchers/basic_searchers.hpp"

namespace steptune {

const std::vector<std::string>& searcher_names() {
  static const std::vector<std::string> k_names = {"bayes", "random", "sobol", "grid", "scaling"};
  return k_names;
}

Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name, const SearchSpace& space,
                                                const SearcherOptions& options) {
  if (name == "random") return make_random_searcher(space, options);
  if (name == "sobol") return make_sobol_searcher(space, options);
  if (name == "grid") return make_grid_searcher(space, options);
  if (name == "scaling") return make_scaling_searcher(space, options);
  if (name == "bayes") return make_bayes_searcher(space, options);
  return fail(ErrorKind::usage,
              fmt::format("there is no searcher \"{}\"{}", printable_line(name, 60),
                          did_you_mean(name, searcher_names())),
              {}, fmt::format("searchers: {}", fmt::join(searcher_names(), ", ")));
}

}  // namespace steptune
