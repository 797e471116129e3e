// SPDX-License-Identifier: Apache-2.0
#include "common/memory_file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/json.hpp"

namespace steptune {

UniqueFd memory_file(const std::string& text) {
  // Use a descriptor above the standard streams, so that a child's streams cannot overwrite it.
  const UniqueFd low(::memfd_create("steptune", MFD_CLOEXEC));
  if (!low) return {};
  UniqueFd file(::fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  std::size_t done = 0;
  while (file && done < text.size()) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return {};
    done += static_cast<std::size_t>(written);
  }
  if (file) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string text_of(const UniqueFd& memory_file) {
  struct stat status {};
  if (!memory_file || ::fstat(memory_file.get(), &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string text(std::min(size, k_max_document_bytes), '\0');
  const ssize_t got = ::pread(memory_file.get(), text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

}  // namespace steptune
