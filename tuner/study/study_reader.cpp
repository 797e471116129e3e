// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/document/source_lines.hpp"
#include "common/json.hpp"
#include "common/machine/system_files.hpp"
#include "common/system_reason.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/runner_kinds.hpp"
#include "tuner/study/cross_checks.hpp"
#include "tuner/study/facts.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/study/scaling_search.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_format.hpp"
#include "tuner/study/study_scope.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/study/study_view.hpp"

namespace steptune {
namespace {

using document::Faults;
using document::Node;
using document::ObjectNode;
using document::Reading;
using document::SourceLines;

/// Returns the known facts about the machines of trials, if these are not the tuner's machine.
std::optional<RemoteMachine> remote_machine(const ObjectNode& root) {
  const Json& document = root.node().json();
  const Json::json_pointer type("/runner/type");
  if (!document.contains(type) || !document.at(type).is_string()) return std::nullopt;
  const RunnerKind* kind = find_runner_kind(document.at(type).get<std::string>());
  if (kind == nullptr) return std::nullopt;
  return kind->remote_machine(document.at("runner"), root.node().reading().folder);
}

/// Returns the search space if its parameters and constraints have no faults.
std::optional<SearchSpace> read_space(const ObjectNode& root, const study::StudyScope& scope) {
  std::vector<std::string> constraints;
  if (const auto node = root.find("constraints")) constraints = study::read_constraints(*node);
  Faults& faults = root.node().faults();
  if (scope.parameters().empty() || faults.within("/parameters") || faults.within("/constraints")) {
    return std::nullopt;
  }
  auto space = SearchSpace::create(scope.parameters(), constraints, scope.facts());
  if (space) return *std::move(space);
  faults.add(space.error().where, document::with_hint(space.error()));
  return std::nullopt;
}

void read_root(const ObjectNode& root, StudySpec& spec) {
  const auto& format = study::study_format();
  Reading& reading = root.node().reading();
  if (auto known = remote_machine(root)) {
    spec.facts = study::remote_facts(root, *std::move(known));
  } else {
    format.read_key(root, "facts", spec);
  }
  const auto scope = std::make_shared<study::StudyScope>(spec.facts);
  reading.scope = scope;
  format.read_keys(root, {"parameters", "config_files", "command", "limits"}, spec);
  spec.runner = study::default_runner(reading, spec.limits, !spec.command.empty());
  format.read_others(root,
                     {"facts", "parameters", "config_files", "command", "limits", "constraints",
                      "baseline", "try"},
                     spec);
  if (spec.runner->traits().needs_command) static_cast<void>(root.require("command"));
  spec.mentioned = scope->mentioned();
  spec.used = scope->used();
  auto space = read_space(root, *scope);
  if (!space) {
    static_cast<void>(root.require("baseline"));
    return;
  }
  spec.space = *std::move(space);
  format.read_keys(root, {"baseline", "try"}, spec);
}

/// Sets a limit for a study without a budget. Otherwise it would run until its search space is
/// exhausted.
void default_budget(BudgetSpec& budget) {
  if (!budget.trials && !budget.time_s && !budget.cost_usd) budget.trials = k_default_trials;
}

/// Reads the keys, without checks across keys. Returns nullopt and adds at least one fault if a key
/// is wrong.
std::optional<StudySpec> read_keys(const Json& document, const std::filesystem::path& file,
                                   Facts facts, Faults& faults) {
  Reading reading{.faults = {}, .folder = file.parent_path(), .scope = nullptr};
  StudySpec spec;
  spec.file = file;
  spec.working_directory = reading.folder.lexically_normal();
  spec.facts = std::move(facts);
  spec.objectives = {{"time", Direction::minimize}};
  const ObjectNode root = study::study_format().open(Node(document, "", reading));
  if (document.is_object()) read_root(root, spec);
  faults = std::move(reading.faults);
  if (!faults.empty()) return std::nullopt;
  default_budget(spec.budget);
  return spec;
}

void complete_runner(StudySpec& spec, const std::vector<Configuration>& examples, Faults& faults) {
  if (auto completed = spec.runner->complete(study::view_of(spec, examples), faults)) {
    spec.runner = std::move(completed);
  }
}

/// Reads and checks a study. Returns nullopt and adds at least one fault if the study is wrong.
std::optional<StudySpec> build(const Json& document, const std::filesystem::path& file, Facts facts,
                               Faults& faults) {
  auto spec = read_keys(document, file, std::move(facts), faults);
  if (!spec) return std::nullopt;
  const std::vector<Configuration> examples = study::example_configurations(*spec);
  study::cross_check(*spec, examples, faults);
  complete_runner(*spec, examples, faults);
  if (!faults.empty()) return std::nullopt;
  study::check_prices(*spec, examples, faults);
  if (!faults.empty()) return std::nullopt;
  spec->document = study::canonical_document(*spec);
  if (const auto scaling = scaling_search(*spec); !scaling) {
    const Error& error = scaling.error();
    faults.add(error.where, error.hint.empty() ? error.message
                                               : fmt::format("{}: {}", error.message, error.hint));
    return std::nullopt;
  }
  spec->fingerprint = study::fingerprint_of(*spec);
  return spec;
}

std::filesystem::path absolute_path(const std::filesystem::path& file) {
  return std::filesystem::absolute(file).lexically_normal();
}

/// Returns the file's lines for messages; none if the file no longer exists.
SourceLines lines_of(const std::filesystem::path& file) {
  return SourceLines(read_system_file(file, k_max_document_bytes).value_or(""));
}

/// Checks the paths that only a study that is about to run needs.
void check_paths(const StudySpec& spec, Faults& faults) {
  std::error_code error;
  if (!std::filesystem::is_directory(spec.working_directory, error)) {
    faults.add("/working_directory",
               fmt::format("the folder {} does not exist", spec.working_directory.string()));
  }
  if (!spec.standard_input.empty()) {
    const std::string file = spec.standard_input.string();
    if (std::filesystem::is_directory(spec.standard_input, error)) {
      faults.add("/stdin", fmt::format("{} is a folder: name a file", file));
    } else if (::access(file.c_str(), R_OK) != 0) {
      faults.add("/stdin", fmt::format("{} cannot be read: {}", file, system_reason(errno)));
    }
  }
  if (spec.hooks.python) {
    if (const auto hook = python_hook_folder(); !hook) {
      faults.add("/hooks/python", hook.error().text());
    }
  }
  spec.runner->check_files(faults);
}

}  // namespace

Result<StudySpec> read_study(const std::filesystem::path& file, const Facts& facts) {
  const auto document = read_json_file(file);
  Faults faults;
  if (!document) {
    if (document.error().kind == ErrorKind::not_found) return tl::unexpected(document.error());
    const SourceLines lines = lines_of(file);
    for (const std::string& pointer : lines.repeated_keys()) {
      faults.add(pointer, "the key appears twice in the same object; remove one");
    }
    return tl::unexpected(faults.empty() ? document.error() : faults.to_error(file, lines));
  }
  auto spec = build(*document, absolute_path(file), facts, faults);
  if (spec) check_paths(*spec, faults);
  if (!faults.empty()) return tl::unexpected(faults.to_error(file, lines_of(file)));
  return *std::move(spec);
}

Result<StudySpec> study_from_json(const Json& document, const std::filesystem::path& file,
                                  const Facts& facts) {
  Faults faults;
  auto spec = build(document, absolute_path(file), facts, faults);
  if (!faults.empty()) return tl::unexpected(faults.to_error(file, SourceLines{}));
  return *std::move(spec);
}

Result<StudySpec> stored_study_from_json(const Json& document, const std::filesystem::path& file,
                                         const Facts& facts, std::string fingerprint) {
  Faults faults;
  auto spec = read_keys(document, absolute_path(file), facts, faults);
  if (spec) complete_runner(*spec, {spec->baseline}, faults);
  if (!spec || !faults.empty()) return tl::unexpected(faults.to_error(file, SourceLines{}));
  spec->document = document;
  spec->fingerprint = std::move(fingerprint);
  return *std::move(spec);
}

}  // namespace steptune
