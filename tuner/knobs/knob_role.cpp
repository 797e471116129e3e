// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/knob_role.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <re2/re2.h>

#include "common/text.hpp"

namespace steptune {
namespace {

struct RoleName {
  KnobRole role;
  const char* name;
  const char* pattern;  ///< pattern of the whole plain name
};

constexpr std::array<RoleName, 12> k_roles = {{
    {KnobRole::batch, "batch",
     "(?:(?:per_)?(?:device|gpu)_|train_|per_device_train_|per_gpu_train_|mini_?|micro_?|local_|"
     "global_|effective_|total_|target_)*"
     "(?:batch(?:_?size|_bins)?|bs|mbs|gbs)(?:_per_(?:gpu|device|rank))?|i(?:ms|mages)_per_batch"},
    {KnobRole::accumulation, "accumulation",
     "(?:grad(?:ient)?_?)?(?:accum(?:ulate|ulation)?)(?:_grad)?(?:_(?:steps?|batches|iters?))?"},
    {KnobRole::workers, "workers",
     "(?:max_|num_|n_|data_?loader_|dataloader_num_|data_|loader_)*workers(?:_per_(?:gpu|device))"
     "?"},
    {KnobRole::prefetch, "prefetch",
     "(?:data_?loader_)?prefetch(?:_(?:factor|size|batches|count))?"},
    {KnobRole::threads, "threads",
     "(?:num_|n_?|intra_?op_?|(?:omp|mkl|blas|openblas|goto)_(?:num_)?|cpu_|host_|torch_)*thread(?:"
     "s|_"
     "count)?(?:_per_op)?"},
    {KnobRole::precision, "precision",
     "(?:mixed_?|compute_|train_|model_|amp_)?(?:precision|dtype)"
     "|(?:use_)?(?:amp|bf16|bfloat16|mixed_precision|autocast|fp16|half|tf32|allow_tf32)"},
    {KnobRole::compile, "compile", "(?:use_|torch_?)?(?:compile|compile_model|jit|torchscript)"},
    {KnobRole::checkpointing, "checkpointing",
     "(?:use_|enable_)?(?:grad(?:ient)?_|activation_)checkpointing|checkpoint_activations"
     "|(?:use_)?(?:gradient_|grad_|activation_)(?:checkpoint|recompute)|recompute_activations"},
    {KnobRole::layout, "layout", "(?:use_)?channels?_last"},
    {KnobRole::transfer, "transfer", "pin_mem(?:ory)?"},
    {KnobRole::instance, "instance",
     "(?:ec2_|aws_|ml_)?instance(?:_type)?|(?:machine|node|vm)_type|machine"},
    {KnobRole::other, "other",
     "persistent_workers|(?:use_)?(?:fused|foreach)(?:_(?:adamw?|optimizer|sgd))?"
     "|(?:use_)?flash_?att(?:n|ention)"},
}};

bool matches(std::string_view text, const RE2& pattern) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace

std::string to_text(KnobRole role) {
  return std::ranges::find(k_roles, role, &RoleName::role)->name;
}

std::vector<std::string> knob_role_names() {
  std::vector<std::string> names;
  for (const RoleName& role : k_roles)
    names.emplace_back(role.name);
  return names;
}

bool is_a_number(KnobRole role) {
  return role == KnobRole::batch || role == KnobRole::accumulation || role == KnobRole::workers ||
         role == KnobRole::prefetch || role == KnobRole::threads;
}

std::optional<double> number_in(const Value& value) {
  if (std::holds_alternative<bool>(value)) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value)) return parse_finite(*text);
  return to_number(value);
}

double number_of(const Configuration& configuration, const Parameter& parameter, double otherwise) {
  const Value* value = configuration.find(parameter.name);
  return value == nullptr ? otherwise : number_in(*value).value_or(otherwise);
}

bool has_numbers(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::boolean) return false;
  return std::ranges::all_of(parameter.choices,
                             [](const Value& value) { return number_in(value).has_value(); });
}

std::optional<KnobRole> role_of_name(std::string_view plain) {
  static const auto k_patterns = [] {
    std::vector<std::unique_ptr<RE2>> patterns;
    for (const RoleName& role : k_roles)
      patterns.push_back(std::make_unique<RE2>(role.pattern));
    return patterns;
  }();
  for (std::size_t i = 0; i < k_roles.size(); ++i)
    if (matches(plain, *k_patterns[i])) return k_roles[i].role;
  return std::nullopt;
}

std::optional<KnobRole> role_of(const KnobRoles& declared, const std::string& name) {
  const auto said = declared.find(name);
  return said != declared.end() ? said->second : role_of_name(name);
}

std::string precision_of(const std::string& choice) {
  std::string plain = lower_case(choice);
  std::ranges::replace(plain, '-', '_');
  static const RE2 k_bf16("(?:torch\\.)?(?:bf16|bfloat16)(?:_mixed|_true)?|mixed_bfloat16");
  static const RE2 k_fp16("(?:torch\\.)?(?:fp16|float16|half|16)(?:_mixed|_true)?|mixed_float16");
  static const RE2 k_fp32("(?:torch\\.)?(?:fp32|float32|float|32|no|none)(?:_true)?");
  if (matches(plain, k_bf16)) return "bf16";
  if (matches(plain, k_fp16)) return "fp16";
  if (matches(plain, k_fp32)) return "fp32";
  return plain == "tf32" ? "tf32" : "";
}

}  // namespace steptune
