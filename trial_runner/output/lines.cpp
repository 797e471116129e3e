// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/output/lines.hpp"

#include <algorithm>
#include <cstring>

#include "common/text.hpp"

namespace steptune {

std::size_t LineSplitter::find_line_end(std::string_view bytes) {
  const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
  const std::size_t end =
      newline == nullptr
          ? bytes.size()
          : static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data());
  const void* carriage = std::memchr(bytes.data(), '\r', end);
  return carriage == nullptr
             ? end
             : static_cast<std::size_t>(static_cast<const char*>(carriage) - bytes.data());
}

void OutputTail::feed(std::string_view bytes) {
  if (bytes.size() >= k_bytes) {
    bytes_.assign(bytes.substr(bytes.size() - k_bytes));
    return;
  }
  if (bytes_.size() + bytes.size() > 2 * k_bytes) bytes_.erase(0, bytes_.size() - k_bytes);
  bytes_.append(bytes);
}

std::string_view OutputTail::text() const {
  const std::string_view all = bytes_;
  return all.substr(all.size() - std::min(all.size(), k_bytes));
}

std::vector<std::string> OutputTail::last_lines(std::size_t count) const {
  std::vector<std::string> lines;
  std::string_view rest = text();
  while (lines.size() < count && !rest.empty()) {
    const std::size_t end = rest.find_last_of("\n\r");
    const std::string_view line = end == std::string_view::npos ? rest : rest.substr(end + 1);
    std::string printable = printable_line(line);
    if (printable.find_first_not_of(' ') != std::string::npos)
      lines.push_back(std::move(printable));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
  }
  std::ranges::reverse(lines);
  return lines;
}

}  // namespace steptune
