// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// What would hinder `History::open_for_writing` from creating a database, as far as that can be
/// told without making anything: a folder that may not be written to, a network file system. The
/// errors are those of that function.
[[nodiscard]] Result<void> check_creatable(const std::filesystem::path& path);

/// For who is to write later and wants to know now whether that will do. A database that is there
/// is opened for writing, and stays this process's; of one that is not, nothing is made, and the
/// result is empty if it could be. So a program in which nothing to tune is found leaves no trace.
[[nodiscard]] Result<std::optional<History>> open_if_present(const std::filesystem::path& path,
                                                             const Clock& clock);

}  // namespace steptune
