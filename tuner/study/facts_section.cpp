// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

Key<Facts> fact_key(const char* name) {
  const auto type = document::number({0.0, 1e9});
  return {
      name,
      [type, name](const Node& node, Facts& facts) {
        if (const auto value = type.read(node)) facts[name] = *value;
      },
      [type, name](const Facts& facts, const document::Writing& writing) -> std::optional<Json> {
        const auto found = facts.find(name);
        if (found == facts.end()) return std::nullopt;
        return type.write(found->second, writing);
      },
      type.schema};
}

}  // namespace

const Section<Facts>& facts_section() {
  static const auto k_section =
      Section<Facts>("facts", "Facts about the machine, stated instead of detected.",
                     "an object of facts by name")
          .add(fact_key("cpus")
                   .default_words("detected")
                   .doc("processors that this process may use"))
          .add(fact_key("gpus")
                   .default_words("detected")
                   .doc("visible GPUs of NVIDIA, otherwise of AMD"))
          .add(fact_key("memory_gb")
                   .default_words("detected")
                   .doc("memory in GiB, at most the cgroup's"));
  return k_section;
}

}  // namespace steptune::study
