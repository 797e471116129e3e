// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/executable_text.hpp"

#include <fstream>
#include <iterator>

#include "tuner/init/read_limits.hpp"

namespace steptune {
namespace {

/// Shorter runs of printable bytes are mostly machine code; `strings` of the GNU binutils uses the
/// same limit.
constexpr std::size_t k_shortest_text = 4;

bool is_printable(char byte) {
  return (byte >= ' ' && byte <= '~') || byte == '\t' || byte == '\n';
}

}  // namespace

std::string texts_of_executable(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::string texts;
  std::string text;
  const auto end_text = [&] {
    if (text.size() >= k_shortest_text) texts += text + '\n';
    text.clear();
  };
  for (std::istreambuf_iterator<char> byte(input), end; byte != end; ++byte) {
    if (is_printable(*byte)) {
      text += *byte;
    } else {
      end_text();
    }
    if (texts.size() + text.size() >= k_most_text_bytes) break;
  }
  end_text();
  return texts.substr(0, k_most_text_bytes);
}

}  // namespace steptune
