// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/study/canonical_document.hpp"
#include "tuner/study/command_section.hpp"
#include "tuner/study/configuration_section.hpp"
#include "tuner/study/cross_checks.hpp"
#include "tuner/study/goal_section.hpp"
#include "tuner/study/identifiers.hpp"
#include "tuner/study/instance_facts.hpp"
#include "tuner/study/machine_checks.hpp"
#include "tuner/study/runner_section.hpp"
#include "tuner/study/sagemaker_section.hpp"
#include "tuner/study/search_section.hpp"
#include "tuner/study/study_keys.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

using study::Faults;
using study::Node;
using study::ObjectNode;
using study::SourceLines;

std::string read_name(const ObjectNode& root) {
  const auto node = root.require("name");
  if (!node) return {};
  const std::string name = node->text().value_or("");
  if (node->json().is_string() && !study::is_study_name(name)) {
    node->fault(
        fmt::format("\"{}\" is no study name: use letters, digits and ._-, 1 to 64, not "
                    "starting with - or .",
                    printable_line(name, 60)));
  }
  return name;
}

std::filesystem::path read_working_directory(const ObjectNode& root,
                                             const std::filesystem::path& folder) {
  const auto node = root.find("working_directory");
  const auto written = node ? node->text() : std::nullopt;
  if (node && written && written->empty()) node->fault("the path is empty; write \".\"");
  std::filesystem::path path = (folder / written.value_or(".")).lexically_normal();
  // "a/b/" and "a/b" are the same folder and must have the same text.
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
  return path;
}

std::optional<SearchSpace> read_space(const ObjectNode& root,
                                      const study::ParameterSection& section, const Facts& facts,
                                      Faults& faults) {
  std::vector<std::string> constraints;
  if (const auto node = root.find("constraints")) {
    constraints = study::read_constraints(*node, section, facts);
  }
  if (section.parameters.empty() || faults.within("/parameters") || faults.within("/constraints")) {
    return std::nullopt;
  }
  auto space = SearchSpace::create(section.parameters, constraints, facts);
  if (space) return *std::move(space);
  const Error& error = space.error();
  faults.add(error.where, error.hint.empty() ? error.message : error.message + "; " + error.hint);
  return std::nullopt;
}

void read_baseline_and_hints(const ObjectNode& root, StudySpec& spec) {
  if (const auto node = root.find("baseline")) {
    spec.baseline = study::read_configuration(*node, spec.space).value_or(Configuration{});
  }
  if (const auto node = root.find("try")) spec.search.hints = study::read_hints(*node, spec.space);
}

/// Everything but the search space and what needs it.
struct Sections {
  std::string name;
  std::vector<CommandPart> command;
  std::map<std::string, std::string> environment;
  std::filesystem::path working_directory;
  PlannedRun planned_run;
  std::vector<Objective> objectives{Objective{"time", Direction::minimize}};
  std::vector<Guard> guards;
  SearchSpec search;
  BudgetSpec budget;
  MeasureSpec measure;
  ReportFormat report_format;
  RunnerSpec runner;
};

Sections read_sections(const ObjectNode& root, const study::ParameterSection& parameters,
                       const Facts& facts, const std::filesystem::path& folder) {
  Sections read;
  read.name = read_name(root);
  if (const auto node = root.find("runner")) {
    read.runner = study::read_runner(*node, parameters, facts, folder);
  }
  // An image has an entry point of its own, which reads the parameters as hyperparameters.
  const bool has_program =
      read.runner.type == "replay" ||
      (read.runner.type == "sagemaker" && read.runner.sagemaker.settings.code_s3_uri.empty());
  if (const auto node = has_program ? root.find("command") : root.require("command")) {
    read.command = study::read_command(*node, parameters, facts);
  }
  if (const auto node = root.find("env")) {
    read.environment = study::read_environment(*node, parameters);
  }
  read.working_directory = read_working_directory(root, folder);
  if (const auto node = root.find("planned_run")) {
    read.planned_run = study::read_planned_run(*node, parameters, facts);
  }
  if (const auto node = root.find("objectives")) read.objectives = study::read_objectives(*node);
  if (const auto node = root.find("guards")) read.guards = study::read_guards(*node);
  if (const auto node = root.find("search")) read.search = study::read_search(*node);
  if (const auto node = root.find("budget")) read.budget = study::read_budget(*node);
  study::default_budget(read.budget);
  if (const auto node = root.find("measure")) read.measure = study::read_measure(*node);
  if (const auto node = root.find("reports")) read.report_format = study::read_reports(*node);
  if (const auto node = root.find("limits")) study::read_limits(*node, read.runner);
  if (read.runner.type == "sagemaker") {
    study::settle_sagemaker_times(*root.find("runner"), read.runner);
  }
  static_cast<void>(root.require("baseline"));
  return read;
}

bool is_of_type(const Json& document, const char* type) {
  const Json::json_pointer pointer("/runner/type");
  return document.contains(pointer) && document.at(pointer) == type;
}

/// The study, or nothing with at least one fault.
std::optional<StudySpec> build(const Json& document, const std::filesystem::path& file, Facts facts,
                               Faults& faults) {
  const ObjectNode root(Node(document, "", faults), "an object", study::keys::k_study);
  if (!document.is_object()) return std::nullopt;
  if (const auto schema = root.find("$schema")) static_cast<void>(schema->text());
  if (is_of_type(document, "sagemaker")) {
    facts = study::instance_facts(root, file.parent_path());
  } else if (const auto node = root.find("facts")) {
    facts = study::read_facts(*node, std::move(facts));
  }
  study::ParameterSection parameters;
  if (const auto node = root.require("parameters")) {
    parameters = study::read_parameters(*node, facts);
  }
  Sections read = read_sections(root, parameters, facts, file.parent_path());
  auto space = read_space(root, parameters, facts, faults);
  if (!space) return std::nullopt;
  StudySpec spec{.name = std::move(read.name),
                 .file = file,
                 .command = std::move(read.command),
                 .environment = std::move(read.environment),
                 .working_directory = std::move(read.working_directory),
                 .space = *std::move(space),
                 .facts = std::move(facts),
                 .choice_texts = std::move(parameters.choice_texts),
                 .baseline = {},
                 .planned_run = std::move(read.planned_run),
                 .objectives = std::move(read.objectives),
                 .guards = std::move(read.guards),
                 .search = std::move(read.search),
                 .budget = read.budget,
                 .measure = read.measure,
                 .report_format = std::move(read.report_format),
                 .runner = std::move(read.runner),
                 .document = {},
                 .fingerprint = {}};
  read_baseline_and_hints(root, spec);
  if (!faults.empty()) return std::nullopt;
  study::resolve_machines(spec, faults);
  if (!faults.empty()) return std::nullopt;
  study::cross_check(spec, faults);
  if (!faults.empty()) return std::nullopt;
  spec.document = study::canonical_document(spec);
  spec.fingerprint = study::fingerprint_of(spec);
  return spec;
}

/// Lines for messages; none if the file has gone since.
SourceLines lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return SourceLines(text);
}

/// What only matters to whoever is about to run the study.
void check_paths(const StudySpec& spec, Faults& faults) {
  std::error_code error;
  if (!std::filesystem::is_directory(spec.working_directory, error)) {
    faults.add("/working_directory",
               fmt::format("there is no folder {}", spec.working_directory.string()));
  }
  const auto& table = spec.runner.replay.table;
  if (!table.empty() && !std::filesystem::is_regular_file(table, error)) {
    faults.add("/runner/table", fmt::format("there is no file {}", table.string()));
  }
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
  const auto absolute = std::filesystem::absolute(file).lexically_normal();
  auto spec = build(*document, absolute, facts, faults);
  if (spec) check_paths(*spec, faults);
  if (!faults.empty()) return tl::unexpected(faults.to_error(file, lines_of(file)));
  return *std::move(spec);
}

Result<StudySpec> study_from_json(const Json& document, const std::filesystem::path& file,
                                  const Facts& facts) {
  Faults faults;
  const auto absolute = std::filesystem::absolute(file).lexically_normal();
  auto spec = build(document, absolute, facts, faults);
  if (!faults.empty()) return tl::unexpected(faults.to_error(file, SourceLines{}));
  return *std::move(spec);
}

}  // namespace steptune
