// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/log_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/system_reason.hpp"

namespace steptune {
namespace {

/// Returns 0 or the error number.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<LogFile> LogFile::create(const std::filesystem::path& path, std::uint64_t cap_bytes) {
  LogFile log;
  if (path.empty()) return log;
  log.path_ = path;
  log.file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!log.file_) {
    return fail(ErrorKind::runner, "cannot create the trial's log: " + system_reason(errno),
                path.string());
  }
  log.head_bytes_ = cap_bytes / 2;
  log.tail_bytes_ = cap_bytes - log.head_bytes_;
  return log;
}

void LogFile::write(std::string_view bytes) {
  while (!bytes.empty() && file_) {
    std::uint64_t offset = total_;
    std::uint64_t room = head_bytes_ - total_;
    if (total_ >= head_bytes_) {
      const std::uint64_t in_tail = (total_ - head_bytes_) % tail_bytes_;
      offset = head_bytes_ + in_tail;
      room = tail_bytes_ - in_tail;
    }
    const std::string_view part = bytes.substr(0, std::min<std::uint64_t>(room, bytes.size()));
    write_at(offset, part);
    total_ += part.size();
    bytes.remove_prefix(part.size());
  }
}

void LogFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return give_up(errno);
    }
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LogFile::give_up(int error) {
  fault_ = fmt::format("log {} is incomplete: {}", path_.string(), system_reason(error));
  file_.reset();
}

void LogFile::finish() {
  if (!file_ || total_ <= head_bytes_ + tail_bytes_) {
    file_.reset();
    return;
  }
  const std::filesystem::path ordered_path = path_.string() + ".tmp";
  const UniqueFd ordered(
      ::open(ordered_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!ordered) return give_up(errno);
  const std::uint64_t oldest = head_bytes_ + (total_ - head_bytes_) % tail_bytes_;
  copy_range(ordered.get(), 0, head_bytes_);
  const std::string note =
      fmt::format("\n--- {} bytes omitted ---\n", total_ - head_bytes_ - tail_bytes_);
  if (const int error = file_ ? write_all(ordered.get(), note) : 0; error != 0) give_up(error);
  copy_range(ordered.get(), oldest, head_bytes_ + tail_bytes_);
  copy_range(ordered.get(), head_bytes_, oldest);
  if (file_ && std::rename(ordered_path.c_str(), path_.c_str()) != 0) give_up(errno);
  if (!file_) ::unlink(ordered_path.c_str());
  file_.reset();
}

void LogFile::copy_range(int to, std::uint64_t begin, std::uint64_t end) {
  std::array<char, std::size_t{64} << 10> buffer;
  while (file_ && begin < end) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), end - begin);
    const ssize_t got = ::pread(file_.get(), buffer.data(), wanted, static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return give_up(got < 0 ? errno : EIO);
    const auto size = static_cast<std::size_t>(got);
    if (const int error = write_all(to, {buffer.data(), size}); error != 0) return give_up(error);
    begin += size;
  }
}

}  // namespace steptune
