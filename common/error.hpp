// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace steptune {

/// Kind of an error. Decides the program's exit code (see tuner/cli/exit_code.hpp) and whether a
/// caller may try again.
enum class ErrorKind {
  usage,        ///< the user asked for something impossible: bad option, bad study file
  not_found,    ///< a study, trial or file does not exist or cannot be read
  conflict,     ///< another process uses the study or runner, or a stored study or result differs
  store,        ///< a history or log cannot be read or written: locked, damaged, full, too new
  runner,       ///< a program cannot do its work (not found, no permission, no credentials)
  unavailable,  ///< no answer, no room, or an output not writable; a later try may succeed
  internal,     ///< a fault of this program
};

/// An error: what failed, where, why, and what to do next.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  ///< what failed and why, a sentence without a trailing full stop
  std::string where;    ///< file, `file#/json/pointer`, trial or job; empty if the message names it
  std::string hint;     ///< what to do next; may be empty

  /// Returns `where: message` and, on a line below, the hint; no trailing newline.
  [[nodiscard]] std::string text() const;

  bool operator==(const Error&) const = default;
};

/// Result of a function that can fail for reasons outside the program, such as a missing file.
/// Exceptions are for programming errors only. Exceptions of third-party libraries are caught where
/// the library is called.
template <typename T>
using Result = tl::expected<T, Error>;

/// Returns an error from a function that returns `Result`.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message,
                                                std::string where = {}, std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(where), std::move(hint)});
}

}  // namespace steptune
