// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/program_option.hpp"

namespace steptune {

/// Returns the Python script that a command runs, in `folder`: the word that names it
/// (`program_words`), or the file of the module after `-m`. Returns nullopt if there is no such
/// file.
[[nodiscard]] std::optional<std::filesystem::path> python_script_of(
    const std::vector<std::string>& argv, const std::filesystem::path& folder);

/// Returns the options that a script's text declares, without running it. Reads calls of
/// `add_argument` (argparse), `option` (click), `DEFINE_integer` and the like (absl) whose names
/// and defaults are literals. If the script reads its settings by `configurator.py`, as nanoGPT
/// does, top-level assignments of literals also become options `--name=value`. Accepts any bytes.
[[nodiscard]] std::vector<ProgramOption> options_of_source(std::string_view source,
                                                           const std::string& file_name);

/// Returns the top-level assignments of literals in a configuration written in Python, such as
/// nanoGPT's `config/train_gpt2.py`, by their names. The last value of a repeated name counts.
/// Returns no settings if the file has functions, classes or loops, because such a file is no
/// configuration.
[[nodiscard]] std::vector<ProgramOption> settings_of_source(std::string_view source,
                                                            const std::string& file_name);

/// Returns numbers in a script that determine how long it trains. Prefers variables to which an
/// outermost training loop counts, if they are assigned once: `max_iters = 5000` before `for iter
/// in range(max_iters)`. If there are none, returns the literal number in such a loop (`range(3)`)
/// and calls it `epochs` or `steps`. Also returns the rounds of a boosting call:
/// `num_boost_round=2000`.
[[nodiscard]] std::vector<ProgramOption> loop_bounds_of(std::string_view source,
                                                        const std::string& file_name);

}  // namespace steptune
