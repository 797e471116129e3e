// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/verdict/earlier_pairs.hpp"

namespace steptune {

/// Returns how much pairs of a program differ (`pooled_scatter`), from the latest finished
/// judgements of the history. A judgement counts if its first command is `command`, whatever tree
/// it ran in, or if it belongs to `campaign`, which may be empty. Judgements that this version
/// cannot read do not count. Errors: the history's.
[[nodiscard]] Result<Scatter> pairs_of_earlier_judgements(const History& history,
                                                          const std::vector<std::string>& command,
                                                          const std::string& campaign);

}  // namespace steptune
