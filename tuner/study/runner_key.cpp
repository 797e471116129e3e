// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "trial_runner/runner_kinds.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

/// Returns the kind of runner that the section names; null after adding a fault.
const RunnerKind* kind_of(const Node& node) {
  if (!node.json().is_object() || !node.json().contains("type")) return runner_kinds().front();
  std::vector<std::string> names;
  for (const RunnerKind* kind : runner_kinds())
    names.emplace_back(kind->name());
  const auto index = node.child("type").one_of(names);
  return index ? runner_kinds()[*index] : nullptr;
}

}  // namespace

std::shared_ptr<const RunnerSettings> default_runner(document::Reading& reading,
                                                     const TrialLimits& limits, bool has_command) {
  static const Json k_empty = Json::object();
  return runner_kinds().front()->read(Node(k_empty, "/runner", reading), limits, has_command);
}

Key<StudySpec> runner_key() {
  Key<StudySpec> key(
      "runner",
      [](const Node& node, StudySpec& study) {
        const RunnerKind* kind = kind_of(node);
        if (kind == nullptr) return;
        study.runner = kind->read(node, study.limits, !study.command.empty());
      },
      [](const StudySpec& study, const document::Writing& writing) -> std::optional<Json> {
        if (study.runner == nullptr) return std::nullopt;
        return study.runner->write(writing);
      },
      [](Json& definitions) {
        Json any = Json::array();
        for (const RunnerKind* kind : runner_kinds())
          any.push_back(kind->schema(definitions));
        return Json{{"anyOf", std::move(any)}};
      });
  key.default_words(std::string(runner_kinds().front()->name()));
  return key;
}

}  // namespace steptune::study
