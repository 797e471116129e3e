// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "common/environment.hpp"
#include "tuner/init/guess_input.hpp"
#include "tuner/init/program_facts.hpp"

namespace steptune {

/// A model that a program trains, according to its command and files.
struct NamedModel {
  bool is_named = false;                ///< an option names a model
  std::optional<NamedConfig> config{};  ///< its settings, if its file is on this machine
};

/// Returns the folder in which Hugging Face's hub keeps models: `$HF_HUB_CACHE`, `$HF_HOME/hub`, or
/// below `~/.cache/huggingface`. Empty if there is no home.
[[nodiscard]] std::filesystem::path hub_cache(const Environment& environment);

/// Finds the model of a program whose space lists files of models (`ReadySpace::models`). Looks in
/// the program's folder, beside the files that its command names, and in `input.model_cache`.
[[nodiscard]] NamedModel named_model(const GuessInput& input);

}  // namespace steptune
