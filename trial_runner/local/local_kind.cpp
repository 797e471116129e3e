// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/local_kind.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/document/section.hpp"
#include "trial_runner/cost/fixed_price.hpp"
#include "trial_runner/kind_key.hpp"
#include "trial_runner/local/local_runner.hpp"
#include "trial_runner/local/watchdog.hpp"
#include "trial_runner/section_limits.hpp"

namespace steptune {
namespace {

using document::Node;
using document::ObjectNode;
using document::Section;

/// Keys of the section `runner` of type `local`.
struct LocalSection {
  FixedPrice price;
  int parallel = 1;
  std::optional<int> cpus_per_trial;
  std::optional<int> gpus_per_trial;
  bool pin = true;
};

void check_share(const ObjectNode& object, const LocalSection& section, std::string_view key,
                 const std::optional<int>& share, std::string_view fact) {
  const auto node = object.find(key);
  if (!node || !share) return;
  const auto available = node->reading().scope->fact(fact);
  const double wanted = static_cast<double>(*share) * section.parallel;
  if (!available || wanted <= *available) return;
  node->fault(fmt::format("{} trials with {} {} each need {}; this machine has {}",
                          section.parallel, *share, fact, wanted, *available));
}

const Section<LocalSection>& local_section() {
  static const auto k_section = [] {
    using document::integer;
    using document::key;
    Section<LocalSection> section("local_runner", "Processes on this machine.",
                                  "an object such as {\"type\": \"local\"}");
    section.add(kind_key<LocalSection>("local"));
    section.add(machines_key().of(&LocalSection::price));
    section.add(key("parallel", &LocalSection::parallel, integer({1.0, k_most_parallel_trials}))
                    .doc("trials at the same time, each with its share of processors"));
    section.add(price_per_hour_key().of(&LocalSection::price));
    section.add(key("cpus_per_trial", &LocalSection::cpus_per_trial, integer({1.0, 65'536.0}))
                    .doc("processors for each of the parallel trials")
                    .default_words("an equal share"));
    section.add(key("gpus_per_trial", &LocalSection::gpus_per_trial, integer({0.0, 1024.0}))
                    .doc("GPUs for each of the parallel trials")
                    .default_words("an equal share"));
    section.add(key("pin", &LocalSection::pin, document::boolean())
                    .doc("bind each trial to its processors"));
    section.check([](const ObjectNode& object, LocalSection& read) {
      check_share(object, read, "cpus_per_trial", read.cpus_per_trial, "cpus");
      check_share(object, read, "gpus_per_trial", read.gpus_per_trial, "gpus");
    });
    return section;
  }();
  return k_section;
}

class LocalSettings final : public RunnerSettings {
 public:
  explicit LocalSettings(LocalSection section) : section_(std::move(section)) {
    traits_.parallel = section_.parallel;
    traits_.takes_hooks = true;
    traits_.gives_streams = true;
    traits_.launchers = local_launchers();
    traits_.has_price = section_.price.usd_per_hour.has_value();
    traits_.facts = {"cpus", "gpus"};
  }

  [[nodiscard]] const RunnerKind& kind() const override { return local_kind(); }
  [[nodiscard]] Json write(const document::Writing& writing) const override {
    return local_section().write(section_, writing);
  }
  [[nodiscard]] std::optional<HourlyPrice> price_of(const Configuration&) const override {
    return section_.price.of_share(section_.parallel);
  }
  [[nodiscard]] std::vector<SummaryLine> summary(const Configuration&) const override {
    return {runner_line(*this, text_of(section_.price))};
  }
  [[nodiscard]] Result<RunnerParts> make(const Clock& clock, std::uint64_t) const override {
    LocalRunnerOptions options;
    options.parallel = section_.parallel;
    options.cpus_per_trial = section_.cpus_per_trial;
    options.gpus_per_trial = section_.gpus_per_trial;
    options.pin = section_.pin;
    auto runner = make_local_runner(clock, std::move(options));
    if (!runner) return tl::unexpected(runner.error());
    return RunnerParts{nullptr, &clock, *std::move(runner)};
  }

 private:
  LocalSection section_;
};

class LocalKind final : public RunnerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "local"; }
  [[nodiscard]] std::string_view title() const override { return "this machine"; }
  [[nodiscard]] std::unique_ptr<RunnerSettings> read(const Node& node, const TrialLimits&,
                                                     bool) const override {
    LocalSection section;
    local_section().read(node, section);
    return std::make_unique<LocalSettings>(std::move(section));
  }
  [[nodiscard]] Json schema(Json& definitions) const override {
    return local_section().schema(definitions);
  }
  [[nodiscard]] std::vector<document::KeyTable> tables() const override {
    return {local_section().table()};
  }
  [[nodiscard]] std::vector<Diagnosis> diagnose() const override {
    const auto program = local::find_watchdog_program();
    if (program) return {{"watchdog", DiagnosisStatus::ok, program->string(), ""}};
    return {{"watchdog", DiagnosisStatus::fail, program.error().message,
             "without it a killed tuner could leave trials behind: install the program as a "
             "whole"}};
  }
};

}  // namespace

const RunnerKind& local_kind() {
  static const LocalKind k_kind;
  return k_kind;
}

}  // namespace steptune
