// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"

namespace steptune {

/// Numbers and texts as people read them. ASCII but for what the user's own texts contain; never in
/// a locale.

/// Four significant digits without an exponent where that stays readable: `0.0417`, `3.142`,
/// `1842`, `1.2e+09`; `-` for a number that is not finite.
[[nodiscard]] std::string format_number(double value);

/// `2.13`, `0.0042`, `123`: how many times; `inf` and `nan` as they are.
[[nodiscard]] std::string format_factor(double factor);

/// `2.13x`, `0.0042x`; `-` where not finite.
[[nodiscard]] std::string format_ratio(double ratio);

/// `812 MiB`, `1.5 GiB`.
[[nodiscard]] std::string format_bytes(double bytes);
/// A clock rate: `3.41 GHz`; `-` where not finite.
[[nodiscard]] std::string format_ghz(double hz);

/// Seconds since 1970 as `2026-11-21T07:36:00Z` (ISO 8601, UTC).
[[nodiscard]] std::string format_utc(double wall_time_s);

/// Columns that a terminal needs for `text` (`character_size`), ANSI sequences left out.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` cut in its middle (`batch_size=25...eads=2`) so that it needs at most `width` columns.
/// ANSI sequences are kept only if nothing is cut.
[[nodiscard]] std::string elide_middle(std::string_view text, std::size_t width);

/// `text` in lines of at most `width` columns, broken at blanks; a longer word has a line of its
/// own. 0: one line. Ends with a newline.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width);

/// The same for one line, of which the first `indent` columns are a title (`note   `): further
/// lines begin below what comes after it.
[[nodiscard]] std::string wrapped_entry(std::string_view line, std::size_t width,
                                        std::size_t indent);

/// The same for several lines, each of which has such a title, or none (`indent` 0).
[[nodiscard]] std::string wrapped_entries(std::string_view lines, std::size_t width,
                                          std::size_t indent);

/// Lines below each other, the first behind a title of seven columns: `leaves  --lr: ...`. Each is
/// made printable and cut to 300 bytes. Ends with a newline; empty where there are none.
[[nodiscard]] std::string titled_lines(std::string_view title,
                                       const std::vector<std::string>& lines);

/// `batch_size=256 workers=6 precision=bf16`: the parameters in `order`, then any others by name.
[[nodiscard]] std::string configuration_text(const Configuration& configuration,
                                             const std::vector<std::string>& order);

/// The value of a parameter on one line of at most `width` columns; `-` where it is inactive.
[[nodiscard]] std::string value_or_dash(const Configuration& configuration, const std::string& name,
                                        std::size_t width = 60);

}  // namespace steptune
