// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "common/document/source_lines.hpp"
#include "common/error.hpp"

namespace steptune::document {

/// One thing wrong with a document.
struct Fault {
  std::string pointer;  ///< RFC 6901; empty for the document as a whole
  std::string message;  ///< what is wrong and what would be right, one sentence
};

/// Faults in the order in which they were found. Keeps the first 20 and counts the rest.
class Faults {
 public:
  /// Adds a fault. The message may quote the document: control characters are removed.
  void add(std::string pointer, const std::string& message);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] const std::vector<Fault>& kept() const { return kept_; }
  /// True if a fault was found at `pointer` or below it.
  [[nodiscard]] bool within(const std::string& pointer) const;

  /// Returns all faults as one error of kind `usage`. A single fault has its place in `where`;
  /// several have one line each below the file's name. There must be at least one fault.
  [[nodiscard]] Error to_error(const std::filesystem::path& file, const SourceLines& lines) const;

 private:
  std::vector<Fault> kept_;
  std::size_t dropped_ = 0;
};

/// Returns the error's message with its hint.
[[nodiscard]] std::string with_hint(const Error& error);

/// Returns `key` as a token of a JSON pointer: `~` and `/` escaped, control characters removed.
[[nodiscard]] std::string pointer_token(const std::string& key);

}  // namespace steptune::document
