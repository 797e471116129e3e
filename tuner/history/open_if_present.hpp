// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Opens a history early, for a program that may write later and wants to know now if it can. An
/// existing database is opened for writing and stays this process's. If there is none, creates
/// nothing and returns nullopt if it could be created. So a program with nothing to tune leaves no
/// trace.
///
/// Reports obstacles that show without creating anything: a folder without write permission, a
/// network file system. Errors are those of `History::open_for_writing`.
[[nodiscard]] Result<std::optional<History>> open_if_present(const std::filesystem::path& path,
                                                             const Clock& clock);

/// Returns the history that `open_if_present` opened, or creates one if there was none.
[[nodiscard]] Result<History> opened_or_new(std::optional<History> opened,
                                            const std::filesystem::path& path, const Clock& clock);

}  // namespace steptune
