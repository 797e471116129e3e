// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "common/error.hpp"

namespace steptune {

/// SQL statements that lead from one version of the schema to the next. Never edited once released:
/// databases that went through them exist.
using Migration = const char*;

/// The migrations of this program: number i leads from version i to i + 1.
[[nodiscard]] std::span<const Migration> schema_migrations();

/// Version of an opened database: 0 if it is empty. Not within a transaction. Errors of kind
/// `store`: tables of another program, or a version above `newest`.
[[nodiscard]] Result<int> schema_version(SQLite::Database& database,
                                         const std::filesystem::path& path, int newest);

/// Brings a database to the version `migrations.size()`, in one transaction, after copying one that
/// is older (not new) to `<path>.v<N>.bak`. Killed at any point it leaves the old version or the
/// new one. Returns the path of the backup, if one was made.
[[nodiscard]] Result<std::optional<std::filesystem::path>> migrate(
    SQLite::Database& database, const std::filesystem::path& path,
    std::span<const Migration> migrations);

}  // namespace steptune
