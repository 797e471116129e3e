// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "common/error.hpp"

namespace steptune {

/// SQL statements that convert one version of the schema to the next. Never edit a released
/// migration, because users' databases have already run it.
using Migration = const char*;

/// Returns the migrations of this program: number i converts version i to i + 1.
[[nodiscard]] std::span<const Migration> schema_migrations();

/// Returns the version of an opened database, or 0 if it is empty. Call outside a transaction.
/// Fails with `store` for tables of another program, or a version above `newest`.
[[nodiscard]] Result<int> schema_version(SQLite::Database& database,
                                         const std::filesystem::path& path, int newest);

/// Brings a database to the version `migrations.size()`, in one transaction. First copies an older
/// (not a new) database to `<path>.v<N>.bak`. A kill at any point leaves either the old or the new
/// version. Returns the path of the backup, if one was made.
[[nodiscard]] Result<std::optional<std::filesystem::path>> migrate(
    SQLite::Database& database, const std::filesystem::path& path,
    std::span<const Migration> migrations);

}  // namespace steptune
