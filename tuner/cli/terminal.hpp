// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/environment.hpp"

namespace steptune {

enum class ColorChoice { automatic, always, never };

/// Whether to write ANSI colours, first rule that applies: `--color always|never`; NO_COLOR that is
/// not empty: no; FORCE_COLOR or CLICOLOR_FORCE that is neither empty nor "0": yes; otherwise on a
/// terminal whose TERM is set and not `dumb`.
[[nodiscard]] bool decide_color(ColorChoice choice, bool is_terminal,
                                const Environment& environment);

/// A terminal on which lines may be rewritten: a tty whose TERM is set and not `dumb`.
[[nodiscard]] bool is_smart_terminal(int fd, const Environment& environment);

/// Columns of the terminal behind `fd`; 0 where there is none or it does not tell.
[[nodiscard]] std::size_t terminal_width(int fd);
/// Its rows, likewise.
[[nodiscard]] std::size_t terminal_rows(int fd);

/// Whether somebody can be asked: stdin and stderr are terminals.
[[nodiscard]] bool can_ask();
/// Reads one answer from stdin; true for `y`, `yes` and the like.
[[nodiscard]] bool read_yes();

}  // namespace steptune
