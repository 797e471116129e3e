// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// For who is to write later and wants to know now whether that will do. A database that is there
/// is opened for writing, and stays this process's; of one that is not, nothing is made, and the
/// result is empty if it could be. So a program in which nothing to tune is found leaves no trace.
/// What hinders it is told as far as that is seen without making anything: a folder that may not be
/// written to, a network file system. The errors are those of `History::open_for_writing`.
[[nodiscard]] Result<std::optional<History>> open_if_present(const std::filesystem::path& path,
                                                             const Clock& clock);

/// What that has `opened`; where there was nothing, a history that is made now.
[[nodiscard]] Result<History> opened_or_new(std::optional<History> opened,
                                            const std::filesystem::path& path, const Clock& clock);

}  // namespace steptune
