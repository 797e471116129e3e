// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/document/source_lines.hpp"
#include "common/error.hpp"

namespace steptune::document {

/// One thing wrong with a document.
struct Fault {
  std::string pointer;  ///< JSON pointer (RFC 6901); empty for the whole document
  std::string message;  ///< one sentence: the fault and how to correct it
};

/// Faults in the order in which they were found. Keeps the first 20 in full, and only the places of
/// later ones.
class Faults {
 public:
  /// Adds a fault. Removes control characters from the message, because it may quote the document.
  void add(std::string pointer, const std::string& message);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] const std::vector<Fault>& kept() const { return kept_; }
  /// True if a fault is at `pointer` or below it.
  [[nodiscard]] bool within(const std::string& pointer) const;

  /// Returns one error of kind `usage`. If there is one fault, the error's `where` is the fault's
  /// place. If there are several, the message has a line for each kept fault, and the number of
  /// dropped ones. There must be at least one fault.
  [[nodiscard]] Error to_error(const std::filesystem::path& file, const SourceLines& lines) const;

 private:
  std::vector<Fault> kept_;
  std::vector<std::string> dropped_;  ///< pointers of the faults that are not kept
};

/// Returns the error's message with its hint.
[[nodiscard]] std::string with_hint(const Error& error);

/// Returns up to 100 bytes of `key` as a token of a JSON pointer: `~` and `/` escaped, control
/// characters removed.
[[nodiscard]] std::string pointer_token(const std::string& key);

}  // namespace steptune::document
