// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/knob_rules.hpp"

#include <algorithm>
#include <array>

#include <re2/re2.h>

namespace steptune {
namespace {

/// Options by their plain name, dots and all before them left out.
struct UsualName {
  const char* pattern;
  const char* role;
  const char* type;
  const char* low;
  const char* high;
  const char* scale;
  const char* when;
  const char* memory;
  const char* needs;
};

constexpr const char* k_gpu = "gpus > 0";

constexpr std::array<UsualName, 16> k_usual = {{
    {"(?:(?:per_)?(?:device|gpu)_|train_|per_device_train_|per_gpu_train_|mini_?|micro_?|local_)*"
     "(?:batch(?:_?size)?|bs|mbs)(?:_per_(?:gpu|device|rank))?",
     "batch", "int", "", "", "log2", "", "increases", ""},
    {"(?:grad(?:ient)?_?)?(?:accum(?:ulate|ulation)?)(?:_grad)?(?:_(?:steps?|batches|iters?))?",
     "accumulation", "int", "1", "32", "log2", "", "", ""},
    {"(?:num_|n_|data_?loader_|dataloader_num_|data_|loader_)*workers(?:_per_(?:gpu|device))?",
     "workers", "int", "0", "cpus", "", "", "", ""},
    {"(?:data_?loader_)?prefetch(?:_(?:factor|size|batches|count))?", "prefetch", "int", "1", "16",
     "log2", "workers > 0", "increases", ""},
    {"(?:num_|n_?|intra_?op_?|omp_(?:num_)?|cpu_|torch_)*thread(?:s|_count)?(?:_per_op)?",
     "threads", "int", "1", "cpus", "", "", "", ""},
    {"(?:mixed_?|compute_|train_|model_|amp_)?(?:precision|dtype)", "precision", "categorical", "",
     "", "", "", "", ""},
    {"(?:use_)?(?:amp|bf16|bfloat16|mixed_precision|autocast)", "precision", "bool", "", "", "", "",
     "", ""},
    {"(?:use_)?(?:fp16|half|tf32|allow_tf32)", "precision", "bool", "", "", "", "", "", k_gpu},
    {"(?:use_|torch_?)?(?:compile|compile_model|jit|torchscript)", "compile", "bool", "", "", "",
     "", "", ""},
    {"(?:use_)?(?:grad(?:ient)?_|activation_)checkpointing|checkpoint_activations", "checkpointing",
     "bool", "", "", "", "", "decreases", ""},
    {"(?:use_)?(?:gradient_|grad_|activation_)(?:checkpoint|recompute)|recompute_activations",
     "checkpointing", "bool", "", "", "", "", "decreases", ""},
    {"(?:use_)?channels?_last", "layout", "bool", "", "", "", "", "", ""},
    {"pin_mem(?:ory)?", "transfer", "bool", "", "", "", "", "", k_gpu},
    {"persistent_workers", "other", "bool", "", "", "", "workers > 0", "", ""},
    {"(?:use_)?(?:fused|foreach)(?:_(?:adamw?|optimizer|sgd))?", "other", "bool", "", "", "", "",
     "", ""},
    {"(?:use_)?flash_?att(?:n|ention)", "other", "bool", "", "", "", "", "", k_gpu},
}};

std::string last_component(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

/// A parameter may not be called like a fact or an operator, nor begin with a digit.
std::string parameter_name(const std::string& plain) {
  std::string name;
  for (const char letter : plain.substr(0, 60))
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  static const std::array<std::string, 8> k_taken = {"cpus", "gpus", "memory_gb", "and",
                                                     "or",   "not",  "true",      "false"};
  const bool is_taken = std::ranges::find(k_taken, name) != k_taken.end();
  return is_taken || name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0
             ? "option_" + name
             : name;
}

/// Whether an option can hold what its name promises: `--precision 6` is a number of digits.
bool fits(const UsualName& usual, const ProgramOption& option) {
  const std::string type = usual.type;
  const bool may_be_number =
      option.kind == OptionKind::integer || option.kind == OptionKind::unknown;
  if (type == "int") return may_be_number && option.form != OptionForm::flag;
  if (type == "bool") {
    return option.form == OptionForm::flag || option.kind == OptionKind::boolean ||
           (option.kind == OptionKind::unknown && option.default_value &&
            plain_name(*option.default_value) != "1" && plain_name(*option.default_value) != "0" &&
            truth_of(*option.default_value).has_value());
  }
  std::size_t known = 0;
  for (const std::string& choice : option.choices)
    known += precision_of(choice).empty() ? 0U : 1U;
  return known >= 2;
}

}  // namespace

std::string precision_of(const std::string& choice) {
  const std::string plain = plain_name(choice);
  static const RE2 k_bf16("(?:torch\\.)?(?:bf16|bfloat16)(?:_mixed|_true)?|mixed_bfloat16");
  static const RE2 k_fp16("(?:torch\\.)?(?:fp16|float16|half|16)(?:_mixed|_true)?|mixed_float16");
  static const RE2 k_fp32("(?:torch\\.)?(?:fp32|float32|float|32|no|none)(?:_true)?");
  if (RE2::FullMatch(plain, k_bf16)) return "bf16";
  if (RE2::FullMatch(plain, k_fp16)) return "fp16";
  if (RE2::FullMatch(plain, k_fp32)) return "fp32";
  return plain == "tf32" ? "tf32" : "";
}

std::optional<SpaceKnob> usual_knob(const ProgramOption& option) {
  const std::string plain = plain_name(option.name);
  if (is_of_evaluation(plain)) return std::nullopt;
  const std::string name = last_component(plain);
  for (const UsualName& usual : k_usual) {
    // -j is how make, and PyTorch's examples, call it; names that are told win.
    if (!RE2::FullMatch(name, usual.pattern) || !fits(usual, option)) continue;
    SpaceKnob rule;
    rule.parameter = parameter_name(name);
    rule.role = usual.role;
    rule.option = option.name;
    rule.type = usual.type;
    rule.low = usual.low;
    rule.high = usual.high;
    rule.scale = usual.scale;
    rule.when = usual.when;
    rule.memory = usual.memory;
    rule.needs = usual.needs;
    if (rule.type != "categorical") return rule;
    for (const std::string& choice : option.choices) {
      if (!precision_of(choice).empty()) rule.choices.push_back(choice);
    }
    return rule;
  }
  return std::nullopt;
}

}  // namespace steptune
