// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "common/system_reason.hpp"
#include "tuner/history/file_system.hpp"
#include "tuner/history/history.hpp"
#include "tuner/history/lock_file.hpp"
#include "tuner/history/open_if_present.hpp"
#include "tuner/history/schema.hpp"
#include "tuner/history/store.hpp"

namespace steptune {
namespace {

/// A command reads most pages only once, so a large cache would cost more time than it saves.
constexpr const char* k_cache_of_readers = "PRAGMA cache_size = -256";

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Returns the file that a symbolic link points to. All names of a database then share one lock.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  auto file = std::filesystem::canonical(path, error);
  return error ? path : file;
}

std::filesystem::path lock_of(std::filesystem::path file) {
  file += ".lock";
  return file;
}

Error no_folder(const std::filesystem::path& folder, const std::string& reason) {
  return {ErrorKind::store, "cannot create the folder: " + reason, folder.string(),
          "choose a history in a writable folder with --db"};
}

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  std::filesystem::create_directories(folder, error);
  if (error) {
    return tl::unexpected(no_folder(folder, error.message()));
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  return {};
}

/// Adds SQLite's flag for use by one thread. Without it, SQLite locks a mutex for each value read.
int one_thread(int mode) {
  return mode | SQLite::OPEN_NOMUTEX;
}

/// Creates the file with permissions for its owner only, before SQLite can create it with the usual
/// permissions. The WAL inherits the permissions. Does nothing if the file exists: closing a
/// descriptor of a database that this process has open would drop its locks.
Result<void> make_private(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) {
    close(descriptor);
    return {};
  }
  if (errno == EEXIST) return {};
  return fail(ErrorKind::store, "cannot be created: " + system_reason(errno), path.string(),
              "choose a history in a writable folder with --db");
}

/// Returns warnings about the file system, or an error on a network file system. `folder` is on the
/// same file system as the database, which may not exist yet.
Result<std::vector<std::string>> check_file_system(const std::filesystem::path& path,
                                                   const std::filesystem::path& folder) {
  const FileSystemKind kind = file_system_of(folder);
  if (kind.trust == FileSystemTrust::local) return std::vector<std::string>{};
  if (kind.trust == FileSystemTrust::network) {
    return fail(ErrorKind::store,
                fmt::format("is on a network file system ({}), where SQLite's locks do not exclude "
                            "other machines",
                            kind.name),
                path.string(), "choose a history on a local disk with --db");
  }
  return std::vector<std::string>{fmt::format(
      "{} is on {}: use it from one machine only, or choose a history on a local disk with "
      "--db",
      path.string(), kind.name)};
}

/// True if the file is the whole database: it has no WAL, and nobody writes. Such a file can be
/// read on a read-only disk or in another user's folder. There, SQLite cannot create the files that
/// readers share with a writer.
bool is_complete_alone(const std::filesystem::path& path) {
  const std::filesystem::path file = behind_links(path);
  std::filesystem::path wal = file;
  wal += "-wal";
  std::error_code fault;
  const bool has_wal =
      std::filesystem::exists(wal, fault) && std::filesystem::file_size(wal, fault) > 0;
  return !has_wal && !LockFile::is_held(lock_of(file));
}

/// Returns a name with which SQLite opens the database without creating files beside it
/// (https://www.sqlite.org/uri.html).
std::string immutable_name(const std::filesystem::path& path) {
  std::string name = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
    name += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return name + "?immutable=1";
}

int milliseconds(double seconds) {
  return static_cast<int>(seconds * 1000.0);
}

/// Fails if no database can be created at this path. Creates nothing.
Result<void> check_creatable(const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of(path);
  std::filesystem::path there = std::filesystem::absolute(folder).lexically_normal();
  std::error_code error;
  while (there.has_relative_path() && !std::filesystem::exists(there, error))
    there = there.parent_path();
  if (!std::filesystem::is_directory(there, error)) {
    return tl::unexpected(no_folder(folder, system_reason(ENOTDIR)));
  }
  if (access(there.c_str(), W_OK | X_OK) != 0) {
    return tl::unexpected(no_folder(folder, system_reason(errno)));
  }
  if (const auto checked = check_file_system(path, there); !checked) {
    return tl::unexpected(checked.error());
  }
  return {};
}

}  // namespace

bool History::has_writer(const std::filesystem::path& path) {
  return LockFile::is_held(lock_of(behind_links(path)));
}

Result<History> History::open_for_writing(const std::filesystem::path& named, const Clock& clock,
                                          double busy_timeout_s) {
  const std::filesystem::path path = behind_links(named);
  if (auto made = make_folder(folder_of(path)); !made) return tl::unexpected(made.error());
  auto warnings = check_file_system(path, folder_of(path));
  if (!warnings) return tl::unexpected(warnings.error());
  auto lock = LockFile::acquire(lock_of(path));
  if (!lock) return tl::unexpected(lock.error());
  if (auto made = make_private(path); !made) return tl::unexpected(made.error());
  try {
    auto store = std::make_unique<Store>(
        path, SQLite::Database(path.string(), one_thread(SQLite::OPEN_READWRITE),
                               milliseconds(busy_timeout_s)));
    store->lock.emplace(*std::move(lock));
    store->clock = &clock;
    store->warnings = *std::move(warnings);
    const auto migrations = schema_migrations();
    const auto version = schema_version(store->database, path, static_cast<int>(migrations.size()));
    if (!version) return tl::unexpected(version.error());
    store->database.exec("PRAGMA journal_mode = WAL");
    store->database.exec("PRAGMA synchronous = FULL");
    store->database.exec("PRAGMA foreign_keys = ON");
    store->database.exec("PRAGMA trusted_schema = OFF");
    auto backup = migrate(store->database, path, migrations);
    if (!backup) return tl::unexpected(backup.error());
    if (*backup) {
      store->warnings.push_back(
          fmt::format("{} was upgraded to version {}; a backup of the old one is {}", path.string(),
                      migrations.size(), (*backup)->string()));
    }
    return History(std::move(store));
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(store_error(exception, path));
  }
}

Result<std::optional<History>> open_if_present(const std::filesystem::path& path,
                                               const Clock& clock) {
  std::error_code error;
  if (std::filesystem::exists(path, error) || History::has_writer(path)) {
    auto history = History::open_for_writing(path, clock);
    if (!history) return tl::unexpected(history.error());
    return *std::move(history);
  }
  if (const auto checked = check_creatable(path); !checked) {
    return tl::unexpected(checked.error());
  }
  return std::nullopt;
}

Result<History> opened_or_new(std::optional<History> opened, const std::filesystem::path& path,
                              const Clock& clock) {
  if (opened) return *std::move(opened);
  return History::open_for_writing(path, clock);
}

Result<History> History::open_for_reading(const std::filesystem::path& path,
                                          double busy_timeout_s) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorKind::not_found, "no history found", path.string(),
                "`steptune run STUDY` creates one; name another place with --db or STEPTUNE_DB");
  }
  if (std::filesystem::is_directory(path, error)) {
    return fail(ErrorKind::store, "is a folder, not a history", path.string(),
                "name a history with --db");
  }
  auto store = Store::open_for_reading(path, busy_timeout_s);
  if (!store) return tl::unexpected(store.error());
  return History(*std::move(store));
}

Result<std::unique_ptr<History::Store>> History::Store::open_for_reading(
    const std::filesystem::path& path, double busy_timeout_s) {
  const auto open = [&](const std::string& name, int mode) -> Result<std::unique_ptr<Store>> {
    auto store = std::make_unique<Store>(
        path, SQLite::Database(name, one_thread(mode), milliseconds(busy_timeout_s)));
    store->busy_timeout_s = busy_timeout_s;
    if (auto begun = store->begin_reading(); !begun) return tl::unexpected(begun.error());
    return store;
  };
  try {
    return open(path.string(), SQLite::OPEN_READONLY);
  } catch (const SQLite::Exception& exception) {
    // The disk is read-only, or this user may not create files in the folder.
    const bool is_refused = (exception.getErrorCode() & 0xFF) == SQLITE_CANTOPEN ||
                            exception.getExtendedErrorCode() == SQLITE_READONLY_DIRECTORY;
    if (!is_refused || !is_complete_alone(path)) {
      return tl::unexpected(store_error(exception, path));
    }
  }
  try {
    auto store = open(immutable_name(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    if (store) (*store)->is_snapshot = true;
    return store;
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(store_error(exception, path));
  }
}

Result<void> History::Store::begin_reading() {
  database.exec("PRAGMA query_only = ON");
  database.exec(k_cache_of_readers);
  database.exec("PRAGMA trusted_schema = OFF");
  const int newest = static_cast<int>(schema_migrations().size());
  const auto found = schema_version(database, path, newest);
  if (!found) return tl::unexpected(found.error());
  if (*found == 0) {
    return fail(ErrorKind::not_found, "contains no study yet", path.string(),
                "`steptune run STUDY` starts one");
  }
  if (*found < newest) {
    return fail(ErrorKind::store,
                fmt::format("was written by an older steptune (history version {}, this program "
                            "reads {})",
                            *found, newest),
                path.string(), "`steptune run STUDY` upgrades it and keeps a backup");
  }
  return {};
}

}  // namespace steptune
