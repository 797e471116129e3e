// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

namespace steptune::document {

/// Position of a JSON parser in a text. After a number, the parser has also read the following
/// character. After a string or a bracket, it has not.
struct ParserCursor {
  std::size_t passed = 0;  ///< number of characters the parser has read
  int line = 1;
  char last = 0;
  [[nodiscard]] int token_line() const { return last == '\n' ? line - 1 : line; }
};

/// Input iterator that reports every character it passes to the cursor.
class TrackedChar {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedChar(const char* at, ParserCursor* cursor) : at_(at), cursor_(cursor) {}
  reference operator*() const { return *at_; }
  TrackedChar& operator++() {
    ++cursor_->passed;
    cursor_->last = *at_;
    if (*at_ == '\n') ++cursor_->line;
    ++at_;
    return *this;
  }
  TrackedChar operator++(int) {
    TrackedChar before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TrackedChar& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedChar& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  ParserCursor* cursor_;
};

}  // namespace steptune::document
