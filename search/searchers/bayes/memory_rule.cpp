// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/memory_rule.hpp"

#include <algorithm>

namespace steptune::bayes {
namespace {

bool needs_no_less(std::optional<MemoryEffect> effect, double position, double failed) {
  if (position == failed) return true;
  if (position == k_inactive || failed == k_inactive) return false;
  return (effect == MemoryEffect::increases && position > failed) ||
         (effect == MemoryEffect::decreases && position < failed);
}

}  // namespace

MemoryRule::MemoryRule(const SearchSpace& space) {
  for (const Parameter& parameter : space.parameters()) {
    // Without an order of the values, "larger" has no meaning.
    effects_.push_back(parameter.unordered() ? std::nullopt : parameter.memory);
  }
}

void MemoryRule::add(const Point& point) {
  const bool declared =
      std::ranges::any_of(effects_, [](const auto& effect) { return effect.has_value(); });
  if (declared) failures_.push_back(point);
}

bool MemoryRule::excludes(std::span<const double> point) const {
  return std::ranges::any_of(failures_, [&](const Point& failed) {
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      if (!needs_no_less(effects_[i], point[i], failed[i])) return false;
    }
    return true;
  });
}

}  // namespace steptune::bayes
