// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "tuner/init/guess_parts.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// Returns the role of a hook's knob; empty if programs have no option for it.
std::string role_of_hook_knob(const std::string& name) {
  static const std::map<std::string, std::string> k_roles = {
      {"num_workers", "workers"},      {"prefetch_factor", "prefetch"},
      {"pin_memory", "transfer"},      {"num_threads", "threads"},
      {"openblas_threads", "threads"}, {"channels_last", "layout"},
      {"batch_size", "batch"},         {"compile", "compile"},
      {"precision", "precision"},      {"num_interop_threads", "threads"}};
  const auto found = k_roles.find(name);
  return found == k_roles.end() ? "" : found->second;
}

/// True if the study or the facts define all names of a condition.
bool is_defined(const std::string& condition, const Facts& machine, const StudyBuilder& study) {
  return std::ranges::all_of(document::identifiers_in(condition), [&](const std::string& name) {
    return study.has(name) || machine.contains(name) ||
           std::ranges::find(k_expression_words, name) != k_expression_words.end();
  });
}

}  // namespace

void add_hook_knobs(const GuessInput& input, const Survey& survey,
                    const std::set<std::string>& roles_of_program, StudyBuilder& study) {
  DraftOptions wanted;
  wanted.name = input.name;
  wanted.argv = input.program.argv;
  wanted.facts = input.machine;
  wanted.cpu_computes_bfloat16 = input.cpu_computes_bfloat16;
  const auto draft = draft_study(survey, wanted);
  Json rules = Json::object();
  if (!draft) return study.use_hook(std::move(rules));
  const bool is_loss_known = !known_loss(input).empty();
  const Json& baseline = draft->document["baseline"];
  for (const auto& [name, declaration] : draft->document["parameters"].items()) {
    const std::string role = role_of_hook_knob(name);
    if (study.has(name) || (!role.empty() && roles_of_program.contains(role))) continue;
    if (!is_loss_known && (role == "precision" || role == "batch")) {
      study.leave(name, k_no_loss);
      continue;
    }
    if (!is_defined(text_at(declaration, "when"), input.machine, study)) continue;
    const Json today = baseline.contains(name) ? baseline[name] : Json();
    study.add({.parameter = name,
               .role = role,
               .option = {},
               .today = today.is_null() ? "" : plain_text(today),
               .from = "the Python hook"},
              declaration, today, "set by the Python hook (docs/hooks.md)");
    rules[name] = fmt::format("{{{}}}", name);
  }
  study.use_hook(std::move(rules));
}

}  // namespace steptune
