// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/line_printer.hpp"

#include <cstddef>

#include "tuner/cli/console.hpp"
#include "tuner/cli/terminal.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {
constexpr std::ptrdiff_t k_most_block_lines = 12;
}  // namespace

std::size_t LinePrinter::columns() const {
  const std::size_t width = terminal_width(fd_);
  // Leave the last column free, because some terminals wrap as soon as it is filled.
  return (width >= 20 ? width : k_default_width) - 1;
}

std::string LinePrinter::erase_block() const {
  std::string sequence;
  for (std::size_t i = 0; i < drawn_lines_; ++i)
    sequence += "\x1b[1A\x1b[2K";
  return sequence.empty() ? sequence : "\r" + sequence;
}

std::string LinePrinter::draw_block() const {
  std::string text;
  const std::size_t width = columns();
  for (const std::string& line : block_)
    text += elide_middle(line, width) + "\n";
  return text;
}

void LinePrinter::status(const std::vector<std::string>& lines) {
  if (!smart_) return;
  const std::string erase = erase_block();
  block_ = lines;
  if (std::ssize(block_) > k_most_block_lines) {
    // Keep the last line, which is about the whole study.
    block_.erase(block_.begin() + (k_most_block_lines - 1), block_.end() - 1);
  }
  static_cast<void>(write_all(fd_, erase + draw_block()));
  drawn_lines_ = block_.size();
}

void LinePrinter::print(const std::string& line) {
  const std::string erase = erase_block();
  static_cast<void>(write_all(fd_, erase + line + "\n" + (smart_ ? draw_block() : std::string())));
  drawn_lines_ = smart_ ? block_.size() : 0;
}

void LinePrinter::clear() {
  if (drawn_lines_ > 0) static_cast<void>(write_all(fd_, erase_block()));
  drawn_lines_ = 0;
  block_.clear();
}

}  // namespace steptune
