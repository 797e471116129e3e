// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/program_option.hpp"

namespace steptune {

// Parts of a Python program's text, as `python_source` and its loops read it.

inline constexpr std::size_t k_max_source_bytes = std::size_t{1} << 20;
inline constexpr std::size_t k_max_declared = 2000;

/// Length of the string literal at the start of `text`, 0 if there is none.
[[nodiscard]] std::size_t string_length(std::string_view text);

/// Without blanks at its ends.
[[nodiscard]] std::string trimmed(const std::string& text);

struct Literal {
  std::string text;
  OptionKind kind = OptionKind::unknown;
};

/// A number, string or truth value, or a product of whole numbers.
[[nodiscard]] std::optional<Literal> literal_of(const std::string& expression);

/// Without comments, and without what stands in long strings: documentation, mostly. Lines stay.
[[nodiscard]] std::string code_of(std::string_view source);

/// Which one counts of several assignments to a name: of a program the first, as its settings come
/// before what it does with them.
enum class Repeated { first, last };

enum class Depth { top_level, any };

/// Assignments to plain names, as options `--name=value`; those of literals have their value.
[[nodiscard]] std::vector<ProgramOption> assignments_in(std::string_view source, Repeated repeated,
                                                        Depth depth = Depth::top_level);

/// `max_iters` for `--max_iters`.
[[nodiscard]] ProgramOption as_setting(ProgramOption option, const std::string& file_name);

}  // namespace steptune
