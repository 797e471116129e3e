// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/study_format.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

using document::Writing;

/// Type of a unit: small letters and blanks, so that it fits into a sentence.
Type<std::string> unit() {
  return document::checked<std::string>(
      document::string(30),
      [](const std::string& name) -> std::optional<std::string> {
        const bool is_fit = !name.empty() && std::ranges::all_of(name, [](char c) {
          return (c >= 'a' && c <= 'z') || c == ' ';
        });
        if (is_fit && name.front() != ' ' && name.back() != ' ') return std::nullopt;
        return fmt::format("\"{}\" is not a unit: use small letters, such as \"epochs\"",
                           printable_line(name, 60));
      },
      {{"pattern", "^[a-z]([a-z ]*[a-z])?$"}});
}

/// Key `$schema`, which only editors use.
Key<StudySpec> schema_key() {
  return {
      "$schema", [](const Node& node, StudySpec& /*study*/) { static_cast<void>(node.string()); },
      [](const StudySpec& /*study*/, const Writing& /*writing*/) { return std::optional<Json>(); },
      document::string().schema};
}

Type<std::filesystem::path> folder() {
  auto type = document::path();
  type.read = [read = type.read](const Node& node) -> std::optional<std::filesystem::path> {
    const auto* text = node.json().get_ptr<const std::string*>();
    if (text != nullptr && text->empty()) {
      node.fault("the path is empty; write \".\"");
      return std::nullopt;
    }
    auto path = read(node);
    // "a/b/" and "a/b" are the same folder and must have the same text.
    if (path && !path->has_filename() && path->has_relative_path()) path = path->parent_path();
    return path;
  };
  return type;
}

/// Key for facts about a machine. Stated facts replace detected facts.
Key<StudySpec> facts_key() {
  return {"facts",
          [](const Node& node, StudySpec& study) { facts_section().read(node, study.facts); },
          [](const StudySpec& study, const Writing& writing) {
            return std::optional(facts_section().write(study.facts, writing));
          },
          [](Json& definitions) { return facts_section().schema(definitions); }};
}

Section<StudySpec> format() {
  constexpr auto k_never = InFingerprint::never;
  return Section<StudySpec>(
             "study",
             "A tuning problem: command, search space, objectives, guards, budget and runner. See "
             "docs/study-file.md.",
             "an object")
      .add(schema_key().anchor("schema").doc("path of the JSON schema, for editors"))
      .add(key("name", &StudySpec::name, study_name())
               .required()
               .in_fingerprint(k_never)
               .doc("name of the study: `[A-Za-z0-9._-]`, 1 to 64 characters, not starting with "
                    "`-` or `.`"))
      .add(command_key()
               .anchor("command")
               .default_words("required")
               .doc("the training program and its arguments, run without a shell"))
      .add(key("env", &StudySpec::environment, environment())
               .anchor("env")
               .doc("environment variables, besides those of the tuner"))
      .add(key("config_files", &StudySpec::config_files, config_files())
               .anchor("config_files")
               .omitted_at_default()
               .in_fingerprint(InFingerprint::unless_default)
               .default_words("none")
               .doc("configuration files; each trial gets an edited copy"))
      .add(key("launch", &StudySpec::launch, document::object(launch_section()))
               .anchor("launch")
               .omitted_at_default()
               .in_fingerprint(InFingerprint::unless_default)
               .default_words("one process on each machine")
               .doc("the processes of a [distributed program](distributed.md#launches)"))
      .add(key("hooks", &StudySpec::hooks, hooks())
               .anchor("hooks")
               .omitted_at_default()
               .in_fingerprint(InFingerprint::unless_default)
               .default_words("none")
               .doc("settings for which the program has no option ([hooks](hooks.md))"))
      .add(key("trials", &StudySpec::trials, document::enumerated({"fresh", "forked", "attached"}))
               .omitted_at_default()
               .in_fingerprint(InFingerprint::unless_default)
               .default_words("`fresh`")
               .doc("`forked`: the search [forks trials](hooks.md#forked-trials) from a warm "
                    "interpreter. `attached`: written by `exec --tune`; cannot be continued"))
      .add(key("working_directory", &StudySpec::working_directory, folder())
               .default_words("`\".\"`")
               .doc("folder of the command, relative to the study file"))
      .add(key("terminal", &StudySpec::terminal, document::boolean())
               .omitted_at_default()
               .in_fingerprint(InFingerprint::unless_default)
               .default_words("`false`")
               .doc("a pseudo-terminal for each trial; local runner"))
      .add(key("stdin", &StudySpec::standard_input, document::path())
               .omitted_at_default()
               .in_fingerprint(InFingerprint::unless_default)
               .default_words("none")
               .doc("each trial's standard input, relative to the study file; local runner"))
      .add(facts_key()
               .anchor("facts")
               .in_fingerprint(k_never)  // `fingerprint_of` adds the facts that matter
               .default_words("detected")
               .doc("facts about the machine"))
      .add(parameters_key().required().anchor("parameters").doc("parameters to vary, by name"))
      .add(constraints_key().anchor("constraints").doc("conditions for every configuration"))
      .add(baseline_key()
               .required()
               .anchor("baseline-and-try")
               .doc("today's value of every active parameter; measured first, never "
                    "stopped early"))
      .add(key("planned_run", &StudySpec::planned_run, document::object(planned_run_section()))
               .anchor("planned_run")
               .default_words("none")
               .doc("the long run that the tuning is for"))
      .add(key("objectives", &StudySpec::objectives, objectives())
               .anchor("objectives")
               .default_words("`[\"time\"]`")
               .doc("one or two of `time`, `cost` and reported metrics"))
      .add(key("guards", &StudySpec::guards,
               document::list_of(document::object(guard_section()), k_max_elements))
               .anchor("guards")
               .doc("limits that the winner must respect"))
      .add(key("search", &StudySpec::search, document::object(search_section()))
               .anchor("search")
               .in_fingerprint(k_never)
               .default_words("Bayesian, ASHA")
               .doc("how configurations are chosen, and which trials stop early"))
      .add(try_key()
               .anchor("baseline-and-try")
               .in_fingerprint(k_never)
               .doc("configurations to measure right after the baseline"))
      .add(key("budget", &StudySpec::budget, document::object(budget_section()))
               .anchor("budget")
               .in_fingerprint(k_never)
               .default_words("40 trials")
               .doc("when the study ends"))
      .add(key("measure", &StudySpec::measure, document::object(measure_section()))
               .anchor("measure")
               .default_words("up to 2 min a trial")
               .doc("how long one trial is measured"))
      .add(key("campaign", &StudySpec::campaign, document::object(campaign_section()))
               .omitted_at_default()
               .written_by_steptune()
               .in_fingerprint(k_never)
               .doc("written by [`judge --campaign`](judge.md#campaigns)"))
      .add(key("reports", &StudySpec::report_format, reports())
               .anchor("reports")
               .default_words("`[steptune]` lines")
               .doc("how to read the program's output; `[steptune]` lines are always "
                    "understood"))
      .add(key("unit", &StudySpec::unit, unit())
               .omitted_at_default()
               .in_fingerprint(k_never)
               .default_words("`samples`")
               .doc("unit that replaces samples: `epochs`, `boosting rounds`, `percent`"))
      .add(key("loading_ceiling", &StudySpec::loading_ceiling, document::number({1.0, 1e6}))
               .in_fingerprint(k_never)
               .default_words("not measured")
               .doc("how many times as fast a step is without data loading; `steptune run -- "
                    "COMMAND` writes it"))
      .add(runner_key().anchor("runner").doc("where the trials run"))
      .add(key("limits", &StudySpec::limits, document::object(limits_section()))
               .anchor("limits")
               .in_fingerprint(k_never)
               .default_words("1 h")
               .doc("limits of each trial"));
}

}  // namespace

Type<std::string> study_name() {
  return document::checked<std::string>(
      document::string(),
      [](const std::string& name) -> std::optional<std::string> {
        if (document::is_study_name(name)) return std::nullopt;
        return fmt::format(
            "\"{}\" is not a study name: use letters, digits and ._-, 1 to 64, not starting with "
            "- or .",
            printable_line(name, 60));
      },
      {{"pattern", document::k_study_name_pattern}});
}

const Section<StudySpec>& study_format() {
  static const auto k_format = format();
  return k_format;
}

Json study_schema() {
  Json definitions = Json::object();
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "Steptune study"}};
  schema.update(study_format().definition(definitions));
  schema["$defs"] = std::move(definitions);
  return schema;
}

Json canonical_document(const StudySpec& study) {
  return study_format().write(study, {});
}

}  // namespace steptune::study

namespace steptune {

SearchSpace placeholder_space() {
  static const SearchSpace k_space = [] {
    Parameter unused;
    unused.name = "unused";
    unused.kind = ParameterKind::boolean;
    return SearchSpace::create({unused}, {}, {}).value();
  }();
  return k_space;
}

}  // namespace steptune
