// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/visited.hpp"

#include <cstring>

namespace steptune {
namespace {

std::string key_of(std::span<const double> point) {
  std::string key(point.size_bytes(), '\0');
  std::memcpy(key.data(), point.data(), point.size_bytes());
  return key;
}

}  // namespace

void Visited::add(const Configuration& configuration) {
  if (!space_->contains(configuration)) return;
  keys_.insert(key_of(space_->encode(configuration)));
}

bool Visited::contains(std::span<const double> point) const {
  return keys_.contains(key_of(point));
}

}  // namespace steptune
