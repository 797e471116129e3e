// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/visited.hpp"

namespace steptune {

void Visited::add(const Configuration& configuration) {
  if (space_->contains(configuration)) points_.insert(space_->encode(configuration));
}

}  // namespace steptune
