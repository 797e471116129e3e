// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/request_pieces.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trial_runner/sagemaker/service_limits.hpp"

namespace steptune {
namespace {

/// Returns the end of the longest possible piece that begins at `begin`.
std::size_t end_of_piece(std::string_view text, std::size_t begin, std::size_t longest) {
  std::size_t end = std::min(begin + longest, text.size());
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  while (end > begin + 1 && continues(end))
    --end;
  return end;
}

}  // namespace

std::vector<std::string> pieces_of(std::string_view text, std::size_t longest) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of_piece(text, begin, longest);
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

std::string put_script(std::string_view script, std::string_view name,
                       std::map<std::string, std::string>& environment) {
  std::string all;
  int number = 0;
  for (std::string& piece : pieces_of(script, k_longest_variable)) {
    std::string variable = fmt::format("{}_{}", name, ++number);
    all += "$" + variable;
    environment.emplace(std::move(variable), std::move(piece));
  }
  return fmt::format("eval \"{}\"", all);
}

std::string without_comments(std::string_view script) {
  std::string sent;
  while (!script.empty()) {
    const std::size_t length = std::min(script.find('\n'), script.size() - 1) + 1;
    std::string_view line = script.substr(0, length);
    script.remove_prefix(length);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size() - 1));
    if (!line.starts_with('#') && line != "\n") sent += line;
  }
  return sent;
}

}  // namespace steptune
