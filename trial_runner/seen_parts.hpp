// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace steptune {

/// Seconds of each part of a step, by name.
using PartSeconds = std::map<std::string, double>;

/// Parts of a trial's steps that are known for some of its time only. Assumes that each part has
/// the same share of the remaining time.
class SeenParts {
 public:
  /// Adds a period of the trial, of `seconds`. `from` and `to` are the cumulative parts at the
  /// start and at the end of this period.
  void add(const PartSeconds& from, const PartSeconds& to, double seconds);
  /// Returns the parts of `seconds` of the trial; empty if no parts were added.
  [[nodiscard]] PartSeconds of(double seconds) const;

 private:
  PartSeconds parts_;
  double seconds_ = 0.0;
};

}  // namespace steptune
