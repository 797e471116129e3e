// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/environment.hpp"

namespace steptune {

enum class ColorChoice { automatic, always, never };

/// Decides whether to write ANSI colours. The first rule that applies decides.
/// `--color always|never` decides directly. A non-empty NO_COLOR means no. FORCE_COLOR or
/// CLICOLOR_FORCE means yes, unless it is empty or "0". Otherwise yes on a terminal whose TERM is
/// set and not `dumb`.
[[nodiscard]] bool decide_color(ColorChoice choice, bool is_terminal,
                                const Environment& environment);

/// True for a terminal on which lines can be rewritten: a tty whose TERM is set and not `dumb`.
[[nodiscard]] bool is_smart_terminal(int fd, const Environment& environment);

/// Returns the columns of the terminal behind `fd`; 0 if unknown or no terminal.
[[nodiscard]] std::size_t terminal_width(int fd);
/// Returns the rows of the terminal behind `fd`; 0 if unknown or no terminal.
[[nodiscard]] std::size_t terminal_rows(int fd);

/// True if a user can be asked: stdin and stderr are terminals.
[[nodiscard]] bool can_ask();
/// Reads one answer from stdin. Returns true for `y`, `yes` and the like.
[[nodiscard]] bool read_yes();

}  // namespace steptune
