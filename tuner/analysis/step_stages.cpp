// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/step_stages.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "common/enum_names.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

struct StageWord {
  std::string_view word;
  StepStage stage;
};

/// A part belongs to the stage of the first word in this list that the part's name contains. Words
/// for copying precede words for data, because names of copies often include both.
constexpr std::array k_part_words{
    StageWord{"h2d", StepStage::host_to_device},
    StageWord{"host_to_device", StepStage::host_to_device},
    StageWord{"to_device", StepStage::host_to_device},
    StageWord{"transfer", StepStage::host_to_device},
    StageWord{"copy", StepStage::host_to_device},
    StageWord{"prepare", StepStage::host_to_device},
    StageWord{"optim", StepStage::optimizer},
    StageWord{"update", StepStage::optimizer},
    StageWord{"comm", StepStage::communication},
    StageWord{"reduce", StepStage::communication},
    StageWord{"gather", StepStage::communication},
    StageWord{"sync", StepStage::communication},
    StageWord{"forward", StepStage::compute},
    StageWord{"backward", StepStage::compute},
    StageWord{"compute", StepStage::compute},
    StageWord{"loss", StepStage::compute},
    StageWord{"data", StepStage::data},
    StageWord{"load", StepStage::data},
    StageWord{"fetch", StepStage::data},
    StageWord{"input", StepStage::data},
    StageWord{"batch", StepStage::data},
    StageWord{"augment", StepStage::data},
};

constexpr std::array k_parameter_words{
    StageWord{"pin_memory", StepStage::host_to_device},
    StageWord{"non_blocking", StepStage::host_to_device},
    StageWord{"worker", StepStage::data},
    StageWord{"prefetch", StepStage::data},
    StageWord{"sharing_strategy", StepStage::data},
    StageWord{"loader", StepStage::data},
    StageWord{"decode", StepStage::data},
    StageWord{"bucket", StepStage::communication},
    StageWord{"allreduce", StepStage::communication},
    StageWord{"all_reduce", StepStage::communication},
    StageWord{"nccl", StepStage::communication},
    StageWord{"optimizer", StepStage::optimizer},
    StageWord{"optimiser", StepStage::optimizer},
    StageWord{"set_to_none", StepStage::optimizer},
    StageWord{"foreach", StepStage::optimizer},
    StageWord{"precision", StepStage::compute},
    StageWord{"dtype", StepStage::compute},
    StageWord{"amp", StepStage::compute},
    StageWord{"bf16", StepStage::compute},
    StageWord{"fp16", StepStage::compute},
    StageWord{"tf32", StepStage::compute},
    StageWord{"matmul", StepStage::compute},
    StageWord{"compile", StepStage::compute},
    StageWord{"channels_last", StepStage::compute},
    StageWord{"cudnn", StepStage::compute},
    StageWord{"attention", StepStage::compute},
    StageWord{"checkpointing", StepStage::compute},
    StageWord{"thread", StepStage::compute},
};

std::string folded(std::string_view text) {
  std::string result = lower_case(text);
  std::ranges::replace(result, '-', '_');
  std::ranges::replace(result, ' ', '_');
  return result;
}

/// True if the word starts at the beginning of a word of the name: "amp" is in "use_amp", not in
/// "sample".
bool names(const std::string& name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
    if (at == 0 || std::isalpha(static_cast<unsigned char>(name[at - 1])) == 0) return true;
  }
  return false;
}

std::optional<StepStage> first_stage(std::string_view text, std::span<const StageWord> words) {
  const std::string name = folded(text);
  for (const StageWord& entry : words) {
    if (names(name, entry.word)) return entry.stage;
  }
  return std::nullopt;
}

/// Returns the knob of the PyTorch hook that the parameter sets; nullopt if none.
std::optional<std::string> knob_set_from(const std::string& parameter, const Json& document) {
  const Json::json_pointer path("/hooks/python");
  if (!document.is_object() || !document.contains(path)) return std::nullopt;
  const Json& knobs = document.at(path);
  if (!knobs.is_object()) return std::nullopt;
  for (const auto& [knob, rule] : knobs.items()) {
    if (rule.is_string() &&
        rule.get<std::string>().find("{" + parameter + "}") != std::string::npos)
      return knob;
  }
  return std::nullopt;
}

}  // namespace

std::string to_text(StepStage stage) {
  static constexpr auto k_names = enum_names<StepStage>({
      {StepStage::data, "data"},
      {StepStage::host_to_device, "host_to_device"},
      {StepStage::compute, "compute"},
      {StepStage::communication, "communication"},
      {StepStage::optimizer, "optimizer"},
  });
  return std::string(k_names.name_of(stage));
}

std::optional<StepStage> stage_of_part(std::string_view part) {
  return first_stage(part, k_part_words);
}

std::optional<StepStage> stage_of_parameter(const std::string& parameter,
                                            const Json& study_document) {
  if (const auto knob = knob_set_from(parameter, study_document)) {
    if (const auto stage = first_stage(*knob, k_parameter_words)) return stage;
  }
  return first_stage(parameter, k_parameter_words);
}

}  // namespace steptune
