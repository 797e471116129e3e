// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/runner_kind.hpp"

#include <fmt/format.h>

#include "trial_runner/rehearsal_stage.hpp"

namespace steptune {

Json RunnerSettings::resumed_document(const Json& /*stored*/, const Json& /*written*/) const {
  return write({});
}

std::shared_ptr<const RunnerSettings> RunnerSettings::complete(const StudyView& /*study*/,
                                                               document::Faults& /*faults*/) const {
  return nullptr;
}

void RunnerSettings::check_files(document::Faults& /*faults*/) const {}

Resources RunnerSettings::resources_of(const Configuration& /*configuration*/) const {
  return {};
}

std::unique_ptr<RehearsalStage> RunnerSettings::rehearse(
    const RehearsalOptions& /*options*/) const {
  return nullptr;
}

SummaryLine runner_line(const RunnerSettings& settings, const std::string& details) {
  const int parallel = settings.traits().parallel;
  return {"runner", fmt::format("{}, {} trial{} at a time{}", settings.kind().name(), parallel,
                                parallel == 1 ? "" : "s", details)};
}

std::optional<RemoteMachine> RunnerKind::remote_machine(
    const Json& /*section*/, const std::filesystem::path& /*folder*/) const {
  return std::nullopt;
}

}  // namespace steptune
