// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/admission.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace steptune {

Result<void> Admission::check_no_study() const {
  if (!study_) return {};
  return fail(ErrorKind::conflict,
              fmt::format("the runner serves study \"{}\" already: each study needs a runner of "
                          "its own",
                          *study_));
}

Result<void> Admission::check_study() const {
  if (study_) return {};
  return fail(ErrorKind::internal, "begin_study was not called");
}

Result<void> Admission::check_start(TrialKey key, std::span<const TrialKey> under_way,
                                    int places) const {
  const std::string where = fmt::format("trial {}", key.trial);
  if (auto begun = check_study(); !begun) {
    begun.error().where = where;
    return begun;
  }
  if (std::ranges::find(under_way, key) != under_way.end()) {
    return fail(ErrorKind::conflict, fmt::format("attempt {} is already under way", key.attempt),
                where);
  }
  if (under_way.size() >= static_cast<std::size_t>(places)) {
    return fail(ErrorKind::unavailable, fmt::format("all {} places are taken", places), where,
                "start it once another trial has ended");
  }
  return {};
}

}  // namespace steptune
