// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/log_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "common/system_reason.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_most_bytes = std::size_t{64} << 20;

std::string printable(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  for (const std::string_view line : split_lines(text)) {
    // Trainers redraw a progress bar with carriage returns: make each state a separate line.
    for (std::size_t part = 0; part <= line.size();) {
      const std::size_t stop = std::min(line.find('\r', part), line.size());
      if (stop > part || stop == line.size()) {
        result += printable_line(line.substr(part, stop - part), k_any_length);
        result += '\n';
      }
      part = stop + 1;
      if (part == line.size()) break;
    }
  }
  return result;
}

}  // namespace

Result<std::string> read_log(const std::filesystem::path& path, bool for_terminal) {
  if (path.empty()) return fail(ErrorKind::not_found, "no output of this trial was kept");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorKind::not_found, "cannot read the trial's output: " + system_reason(errno),
                path.string());
  }
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  std::string text;
  text.resize(unknown ? k_most_bytes : std::min<std::uintmax_t>(bytes, k_most_bytes));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return for_terminal ? printable(text) : text;
}

}  // namespace steptune
