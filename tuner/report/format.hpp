// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"

namespace steptune {

/// The functions below format numbers and texts for people. The results are ASCII, except the
/// user's own texts, and independent of the locale.

/// Formats a number with at most four significant digits: `0.0417`, `3.142`. From 1000 to 1e7,
/// rounds to a whole number with all digits: `1842`, `1234567`. Below 1e-4 and from 1e7, writes an
/// exponent: `1.2e+09`. Returns `-` for a number that is not finite.
[[nodiscard]] std::string format_number(double value);

/// Formats a factor: `2.13`, `0.0042`, `123`, `inf`, `nan`.
[[nodiscard]] std::string format_factor(double factor);

/// Formats a ratio: `2.13x`, `0.0042x`; `-` if not finite.
[[nodiscard]] std::string format_ratio(double ratio);

/// Formats bytes: `812 MiB`, `1.5 GiB`.
[[nodiscard]] std::string format_bytes(double bytes);
/// Formats a clock rate: `3.41 GHz`; `-` if not finite.
[[nodiscard]] std::string format_ghz(double hz);

/// Formats seconds since 1970 as `2026-11-21T07:36:00Z` (ISO 8601, UTC).
[[nodiscard]] std::string format_utc(double wall_time_s);

/// Returns the terminal columns of `text` (`character_size`), without ANSI sequences.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Cuts `text` in the middle (`batch_size=25...eads=2`) to at most `width` columns. Removes ANSI
/// sequences if it cuts.
[[nodiscard]] std::string elide_middle(std::string_view text, std::size_t width);

/// Width in columns for a file, and for a terminal that does not report its width.
inline constexpr std::size_t k_default_width = 80;
/// Columns that a configuration gets at least, even if its line is then wider than the terminal.
inline constexpr std::size_t k_shortest_configuration = 16;

/// Returns the width of wrapped texts on a terminal of `width` columns: at most 100, because long
/// lines are hard to read. Returns 0 (no wrapping) for 0.
[[nodiscard]] std::size_t readable_width(std::size_t width);
/// Wraps `text` at blanks into lines of at most `width` columns (0: one line). A longer word gets a
/// separate line. Ends with a newline.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width);

/// Wraps one line whose first `indent` columns are a title (`note `). Indents the lines after the
/// first, so that they align with the text after the title.
[[nodiscard]] std::string wrapped_entry(std::string_view line, std::size_t width,
                                        std::size_t indent);

/// Wraps each line of `lines` as `wrapped_entry` does. If the lines have no titles, callers pass 0
/// as `indent`.
[[nodiscard]] std::string wrapped_entries(std::string_view lines, std::size_t width,
                                          std::size_t indent);

/// Returns one line of text for each of `lines`. The first starts with `title`, padded to seven
/// columns: `leaves  --lr: ...`. All other lines are indented to match. Makes each line printable
/// and limits its length (`printable_line`). Returns an empty text if there are no lines.
[[nodiscard]] std::string titled_lines(std::string_view title,
                                       const std::vector<std::string>& lines);

/// Returns `batch_size=256 workers=6 precision=bf16`: first the parameters in `order`, then all
/// other parameters by name.
[[nodiscard]] std::string configuration_text(const Configuration& configuration,
                                             const std::vector<std::string>& order);

/// Returns a name with blanks: `out of memory` for `out_of_memory`.
[[nodiscard]] std::string with_blanks(std::string name);
/// Returns a parameter's value on one line of at most `width` columns; `-` if inactive.
[[nodiscard]] std::string value_or_dash(const Configuration& configuration, const std::string& name,
                                        std::size_t width = 60);

}  // namespace steptune
