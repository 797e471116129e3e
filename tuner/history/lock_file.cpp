// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/lock_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/pause.hpp"
#include "common/system_reason.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

/// Returns 0 if the lock was taken, otherwise the error number. Waits about one second while other
/// processes only check the lock.
int lock_exclusively(int descriptor) {
  for (int pauses = 0;;) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || ++pauses > 100) return errno;
    // A process that only checks the lock shares it for a moment. A writer never shares it.
    if (flock(descriptor, LOCK_SH | LOCK_NB) != 0) return errno;
    flock(descriptor, LOCK_UN);
    pause_thread(0.01);
  }
}

int wait_for_lock(int descriptor) {
  while (flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return printable_line(name.data(), 200);
}

std::optional<Owner> read_owner(int descriptor) {
  std::array<char, 512> bytes{};
  const ssize_t count = pread(descriptor, bytes.data(), bytes.size() - 1, 0);
  if (count <= 0) return std::nullopt;
  const std::string text(bytes.data(), static_cast<std::size_t>(count));
  const auto space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  Owner owner{printable_line(text.substr(0, space), 200), 0};
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data() + space + 1, end, owner.pid).ec != std::errc{}) {
    return std::nullopt;
  }
  return owner;
}

tl::unexpected<Error> refused(const std::filesystem::path& path, int descriptor) {
  const auto owner = read_owner(descriptor);
  if (!owner) {
    return fail(ErrorKind::conflict, "another steptune is writing to this history", path.string(),
                "wait until it has ended, or choose another history with --db");
  }
  const std::string where_to = owner->host == host_name() ? "" : fmt::format(" on {}", owner->host);
  return fail(
      ErrorKind::conflict,
      fmt::format("another steptune is writing to this history: host {}, pid {}", owner->host,
                  owner->pid),
      path.string(),
      fmt::format(
          "wait until it has ended, stop it with `kill -INT {}`{}, or choose another history "
          "with --db",
          owner->pid, where_to));
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::filesystem::path& path) {
  return locked(path, lock_exclusively);
}

Result<LockFile> LockFile::wait_for(const std::filesystem::path& path) {
  return locked(path, wait_for_lock);
}

Result<LockFile> LockFile::locked(const std::filesystem::path& path, int (*lock)(int descriptor)) {
  UniqueFd descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!descriptor) {
    return fail(ErrorKind::store, "the lock file cannot be opened: " + system_reason(errno),
                path.string(), "choose a history in a writable folder with --db");
  }
  const int fault = lock(descriptor.get());
  if (fault == EWOULDBLOCK) return refused(path, descriptor.get());
  if (fault != 0) {
    return fail(ErrorKind::store, "cannot be locked: " + system_reason(fault), path.string(),
                "choose a history on a local disk with --db");
  }
  // The text only helps people, so a full disk must not stop the writer.
  const std::string text = fmt::format("{} {}\n", host_name(), getpid());
  if (ftruncate(descriptor.get(), 0) == 0) {
    [[maybe_unused]] const auto written = pwrite(descriptor.get(), text.data(), text.size(), 0);
  }
  return LockFile(std::move(descriptor));
}

bool LockFile::is_held(const std::filesystem::path& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace steptune
