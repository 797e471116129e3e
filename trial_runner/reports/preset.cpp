// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/preset.hpp"

#include <array>

namespace steptune {

std::span<const std::string> preset_names() {
  static const std::array<std::string, 5> k_names{"tqdm", "keras", "hf-trainer", "lightning",
                                                  "key=value"};
  return k_names;
}

std::unique_ptr<Preset> make_preset(std::string_view name) {
  if (name == "tqdm") return make_tqdm_preset();
  if (name == "keras") return make_keras_preset();
  if (name == "hf-trainer") return make_hf_trainer_preset();
  if (name == "lightning") return make_lightning_preset();
  if (name == "key=value") return make_key_value_preset();
  return nullptr;
}

}  // namespace steptune
