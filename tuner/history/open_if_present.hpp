// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "common/error.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Opens a history early, for a program that may write later and must know now if it can. Opens an
/// existing database for writing, so that only this process may write. If there is no database but
/// one could be created, creates nothing and returns nullopt. A program that then has nothing to
/// tune leaves no file.
///
/// Detects obstacles without creating anything: a folder without write permission, a network file
/// system. Returns the errors of `History::open_for_writing`.
[[nodiscard]] Result<std::optional<History>> open_if_present(const std::filesystem::path& path,
                                                             const Clock& clock);

/// Returns the history that `open_if_present` opened, or creates one if there was none.
[[nodiscard]] Result<History> opened_or_new(std::optional<History> opened,
                                            const std::filesystem::path& path, const Clock& clock);

}  // namespace steptune
