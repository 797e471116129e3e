// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/json.hpp"
#include "common/system_reason.hpp"
#include "common/unique_fd.hpp"
#include "tuner/cli/console.hpp"

namespace steptune {
namespace {

tl::unexpected<Error> failed(const std::filesystem::path& file, int error) {
  if (error == EEXIST) return fail(ErrorKind::usage, "already exists", file.string());
  return fail(ErrorKind::unavailable, fmt::format("cannot be written: {}", system_reason(error)),
              file.string());
}

/// Returns the permissions that open(2) would give to a new file.
mode_t as_created(mode_t mode) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mode & ~mask;
}

/// Returns the permissions of the file that is replaced, or of a new file.
mode_t mode_of(const std::filesystem::path& file) {
  struct stat replaced {};
  if (::stat(file.c_str(), &replaced) == 0) return replaced.st_mode & 07777U;
  return as_created(0644);
}

/// Renames `part` to `file`, and fails if `file` exists. If the file system cannot do this in one
/// step, uses a hard link.
int take_free_name(const std::string& part, const std::filesystem::path& file) {
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(part.c_str(), file.c_str()) != 0) return errno;
  ::unlink(part.c_str());
  return 0;
}

/// True for a device, a pipe, or this program's stdout. A rename must not replace such a file.
bool is_stream(const std::filesystem::path& file) {
  struct stat named {};
  struct stat out {};
  if (::stat(file.c_str(), &named) != 0) return false;
  const bool is_stdout =
      ::fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == named.st_dev && out.st_ino == named.st_ino;
  return is_stdout || !(S_ISREG(named.st_mode) || S_ISDIR(named.st_mode));
}

/// Appends the text to a stream, so that `report --html /dev/stdout >> pages` works.
Result<void> write_into(const std::filesystem::path& file, std::string_view text) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
  if (!fd) return failed(file, errno);
  const int fault = write_all(fd.get(), text);
  if (fault != 0) return failed(file, fault);
  return {};
}

/// Writes a temporary file beside `file` and renames it. If `owner` is null, the file belongs to
/// this process's user.
Result<void> write_beside(const std::filesystem::path& file, std::string_view text, mode_t mode,
                          const struct stat* owner, bool replaces = true) {
  std::string part = fmt::format("{}.XXXXXX", file.string());
  const UniqueFd fd(::mkostemp(part.data(), O_CLOEXEC));
  if (!fd) return failed(file, errno);
  int fault = write_all(fd.get(), text);
  // Ignore EPERM: only root may give a file away. Call fchown before fchmod, because fchown clears
  // mode bits.
  if (owner != nullptr && ::fchown(fd.get(), owner->st_uid, owner->st_gid) != 0 && errno != EPERM) {
    fault = errno;
  }
  if (fault == 0 && (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0)) fault = errno;
  if (fault == 0 && !replaces) fault = take_free_name(part, file);
  if (fault == 0 && replaces && ::rename(part.c_str(), file.c_str()) != 0) fault = errno;
  if (fault == 0) return {};
  ::unlink(part.c_str());
  return failed(file, fault);
}

}  // namespace

Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text) {
  if (is_stream(file)) return write_into(file, text);
  std::error_code none;
  if (std::filesystem::is_symlink(file, none)) {
    const auto target = std::filesystem::canonical(file, none);
    if (!none) return write_beside(target, text, mode_of(target), nullptr);
    // The link is broken: replace the link itself.
  }
  std::error_code error;
  if (!file.parent_path().empty()) std::filesystem::create_directories(file.parent_path(), error);
  if (error) return failed(file, error.value());
  return write_beside(file, text, mode_of(file), nullptr);
}

Result<void> write_new_file(const std::filesystem::path& file, std::string_view text, mode_t mode) {
  std::error_code error;
  if (!file.parent_path().empty()) std::filesystem::create_directories(file.parent_path(), error);
  if (error) return failed(file, error.value());
  return write_beside(file, text, as_created(mode), nullptr, false);
}

std::filesystem::path present_folder_of(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

Result<void> check_writable(const std::filesystem::path& file) {
  if (is_stream(file)) return {};
  std::error_code error;
  const std::filesystem::path folder = present_folder_of(file);
  if (!std::filesystem::is_directory(folder, error)) return failed(file, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return failed(file, errno);
  return {};
}

Result<std::string> read_whole_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) {
    return fail(ErrorKind::not_found, "cannot be read: " + error.message(), file.string());
  }
  if (size > k_max_document_bytes) {
    return fail(ErrorKind::usage, "is larger than 16 MiB", file.string());
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return fail(ErrorKind::not_found, "cannot be read", file.string());
  return text.str();
}

Result<void> replace_content(const std::filesystem::path& file, std::string_view expected,
                             std::string_view text) {
  std::error_code error;
  const auto target = std::filesystem::canonical(file, error);
  if (error) return failed(file, error.value());
  struct stat attributes {};
  if (::stat(target.c_str(), &attributes) != 0) return failed(target, errno);
  if (::access(target.c_str(), W_OK) != 0) return failed(target, errno);
  const auto present = read_whole_file(target);
  if (!present) return tl::unexpected(present.error());
  if (*present != expected) {
    return fail(ErrorKind::conflict, "was changed in the meantime; nothing was written",
                file.string(), "run the same command again");
  }
  return write_beside(target, text, attributes.st_mode & 07777U, &attributes);
}

}  // namespace steptune
