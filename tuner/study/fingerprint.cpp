// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/document/identifiers.hpp"
#include "common/sha256.hpp"
#include "tuner/study/study_format.hpp"

namespace steptune::study {
namespace {

/// Returns the facts that a measurement depends on: facts that the study mentions, and facts of the
/// runner, such as the machine's processors. Bounds of parameters need no facts, because they are
/// stored as numbers.
Json relevant_facts(const StudySpec& study) {
  std::set<std::string> wanted = study.mentioned;
  const auto mention = [&](const std::string& expression) {
    for (std::string& name : document::identifiers_in(expression))
      wanted.insert(std::move(name));
  };
  for (const Parameter& parameter : study.space.parameters())
    mention(parameter.when.value_or(""));
  for (const std::string& constraint : study.space.constraints())
    mention(constraint);
  const std::set<std::string>& of_runner = study.runner->traits().facts;
  wanted.insert(of_runner.begin(), of_runner.end());
  Json facts = Json::object();
  for (const auto& [name, value] : study.facts) {
    if (wanted.contains(name)) facts[name] = value;
  }
  return facts;
}

}  // namespace

std::string fingerprint_of(const StudySpec& study) {
  const bool cost_is_objective = std::ranges::any_of(study.objectives, &Objective::is_cost);
  // The hashed form must not change, otherwise every stored study would look different.
  Json essence = {{"form", 1}};
  essence.update(study_format().write(study, {.fingerprint = true,
                                              .folder = study.file.parent_path(),
                                              .cost_is_objective = cost_is_objective}));
  essence["facts"] = relevant_facts(study);
  return sha256_hex(dump_json(essence));
}

}  // namespace steptune::study
