// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/seen_parts.hpp"

#include <algorithm>

namespace steptune {

void SeenParts::add(const PartSeconds& from, const PartSeconds& to, double seconds) {
  if (from.empty() || to.empty() || !(seconds > 0.0)) return;
  for (const auto& [part, until_s] : to) {
    const auto before = from.find(part);
    parts_[part] += std::max(0.0, until_s - (before == from.end() ? 0.0 : before->second));
  }
  seconds_ += seconds;
}

PartSeconds SeenParts::of(double seconds) const {
  PartSeconds parts = parts_;
  for (auto& [part, part_s] : parts)
    part_s *= seconds / seconds_;
  return parts;
}

}  // namespace steptune
