// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace steptune {

/// Seconds of each part of a step, by name.
using PartSeconds = std::map<std::string, double>;

/// Parts of a trial's steps that are known for some of its time only. The rest of the time has the
/// same shares.
class SeenParts {
 public:
  /// Adds `seconds` of the trial. Parts are cumulative: `from` at their begin, `to` at their end.
  void add(const PartSeconds& from, const PartSeconds& to, double seconds);
  /// Returns the parts of `seconds` of the trial; empty if no parts were added.
  [[nodiscard]] PartSeconds of(double seconds) const;

 private:
  PartSeconds parts_;
  double seconds_ = 0.0;
};

}  // namespace steptune
