// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <unordered_set>

namespace steptune {

/// A set of points of a search space. Points are compared by their exact coordinates, so they must
/// come from `SearchSpace::snap`.
class PointSet {
 public:
  bool insert(std::span<const double> point) { return keys_.insert(key(point)).second; }
  [[nodiscard]] bool contains(std::span<const double> point) const {
    return keys_.contains(key(point));
  }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  static std::string key(std::span<const double> point) {
    std::string bytes(point.size() * sizeof(double), '\0');
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double coordinate = point[i] + 0.0;  // makes -0 equal to 0
      std::memcpy(bytes.data() + i * sizeof(double), &coordinate, sizeof(double));
    }
    return bytes;
  }

  std::unordered_set<std::string> keys_;
};

}  // namespace steptune
