// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/whole_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/unique_fd.hpp"
#include "tuner/cli/console.hpp"

namespace steptune {
namespace {

constexpr mode_t k_mode = 0644;

tl::unexpected<Error> failed(const std::filesystem::path& file, int error) {
  return fail(ErrorKind::unavailable, fmt::format("cannot be written: {}", std::strerror(error)),
              file.string());
}

}  // namespace

Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text) {
  std::error_code error;
  if (!file.parent_path().empty()) std::filesystem::create_directories(file.parent_path(), error);
  if (error) return failed(file, error.value());
  std::string part = fmt::format("{}.XXXXXX", file.string());
  const UniqueFd fd(::mkostemp(part.data(), O_CLOEXEC));
  if (!fd) return failed(file, errno);
  int fault = write_all(fd.get(), text);
  if (fault == 0 && (::fchmod(fd.get(), k_mode) != 0 || ::fsync(fd.get()) != 0)) fault = errno;
  if (fault == 0 && ::rename(part.c_str(), file.c_str()) != 0) fault = errno;
  if (fault == 0) return {};
  ::unlink(part.c_str());
  return failed(file, fault);
}

}  // namespace steptune
