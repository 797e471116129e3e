// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace steptune {

/// What kind of thing went wrong; decides the exit code of the program (see
/// tuner/cli/exit_code.hpp) and whether a caller may try again.
enum class ErrorKind {
  usage,        ///< the user asked for something impossible: bad option, bad study file
  not_found,    ///< a study, trial or file that does not exist
  conflict,     ///< somebody else owns it, or it differs from what is stored
  store,        ///< the history database is locked, corrupt, full or of an unknown version
  runner,       ///< a runner cannot do its work (no such program, no permission, no credentials)
  unavailable,  ///< a temporary condition of the outside world: try again later
  internal,     ///< a fault of this program
};

/// One fault, told once: what failed, where, why, and what to do next.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  ///< what failed and why, a sentence without a trailing full stop
  std::string where;  ///< file, `file#/json/pointer`, trial or job; empty when the message says it
  std::string hint;   ///< what to do next; empty when there is nothing to advise

  /// `where: message` and, on a second line, the hint. No trailing newline.
  [[nodiscard]] std::string text() const;

  bool operator==(const Error&) const = default;
};

/// The result of anything that the outside world can make fail. Exceptions are for programmer
/// errors only; those of third-party libraries are caught where the library is called.
template <typename T>
using Result = tl::expected<T, Error>;

/// Shorthand for returning an error from a function that returns `Result`.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message,
                                                std::string where = {}, std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(where), std::move(hint)});
}

}  // namespace steptune
