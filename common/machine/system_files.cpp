// SPDX-License-Identifier: Apache-2.0
#include "common/machine/system_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "common/text.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

namespace fs = std::filesystem;

std::optional<std::string> read_system_file(const fs::path& path, std::size_t max_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 8192> buffer;
  while (text.size() < max_bytes) {
    const std::size_t room = std::min(buffer.size(), max_bytes - text.size());
    const ssize_t got = ::read(file.get(), buffer.data(), room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::string> SystemFiles::text(const fs::path& file) const {
  return read_system_file(root / file);
}

std::optional<std::string> SystemFiles::line(const fs::path& file) const {
  const auto content = text(file);
  if (!content || content->empty()) return std::nullopt;
  return content->substr(0, content->find('\n'));
}

std::vector<std::string> SystemFiles::words(const fs::path& file) const {
  std::istringstream stream(line(file).value_or(""));
  std::vector<std::string> found;
  for (std::string word; stream >> word;)
    found.push_back(word);
  return found;
}

std::optional<double> SystemFiles::number(const fs::path& file) const {
  const auto found = words(file);
  return found.empty() ? std::nullopt : parse_finite(found.front());
}

std::vector<std::string> SystemFiles::names(const fs::path& folder) const {
  std::vector<std::string> found;
  std::error_code fault;
  for (fs::directory_iterator entry(root / folder, fault), end; !fault && entry != end;
       entry.increment(fault)) {
    found.push_back(entry->path().filename().string());
  }
  std::ranges::sort(found);
  return found;
}

bool SystemFiles::exists(const fs::path& file) const {
  std::error_code fault;
  return fs::exists(root / file, fault);
}

}  // namespace steptune
