// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "search/space/expression.hpp"

namespace steptune::study {

/// The facts as told by the proc, sys and dev file systems below `root`, for a process that may use
/// `affinity_cpus` processors.
[[nodiscard]] Facts facts_under(const std::filesystem::path& root, int affinity_cpus);

}  // namespace steptune::study
