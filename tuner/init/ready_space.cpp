// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/ready_space.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/document/section.hpp"
#include "common/json_fields.hpp"
#include "common/shipped_files.hpp"
#include "search/space/expression.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/study/sections.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;
using document::key;
using document::Node;
using document::ObjectNode;
using document::Section;
using document::Type;

Type<std::vector<std::string>> strings() {
  return document::list_of(document::string(), study::k_max_elements);
}

/// Returns the document type of a bound: a whole number, or an expression over facts.
Type<std::string> bound() {
  Type<std::string> type = document::string();
  type.read = [](const Node& node) -> std::optional<std::string> {
    if (node.json().is_number_integer()) return plain_text(node.json());
    return node.string();
  };
  type.schema = [](Json&) { return Json{{"type", {"integer", "string"}}}; };
  return type;
}

Type<Json> as_in_a_study() {
  Type<Json> type;
  type.read = [](const Node& node) { return std::optional(node.json()); };
  type.write = [](const Json& json, const document::Writing&) { return json; };
  type.schema = [](Json&) { return Json::object(); };
  return type;
}

const Section<KnobSetting>& setting_section() {
  static const auto k_section =
      Section<KnobSetting>("setting", "", "an object such as {\"label\": \"bf16\", \"args\": []}")
          .add(key("label", &KnobSetting::label, document::string()).required())
          .add(key("args", &KnobSetting::args, strings()).required())
          .add(key("needs", &KnobSetting::needs, document::string()));
  return k_section;
}

void check_knob(const ObjectNode& object, const SpaceKnob& knob) {
  if (!document::is_identifier(knob.parameter)) {
    object.node().fault("\"parameter\" is not a valid parameter name");
  }
  if (knob.option.empty() == knob.settings.empty()) {
    object.node().fault("give either \"option\" or \"settings\"");
  }
  if (knob.low.empty() != knob.high.empty()) {
    object.node().fault("give both \"low\" and \"high\", or none of them");
  }
}

const Section<SpaceKnob>& knob_section() {
  static const auto k_section =
      Section<SpaceKnob>("knob", "", "an object such as {\"parameter\": \"workers\", ...}")
          .add(key("parameter", &SpaceKnob::parameter, document::string()).required())
          .add(key("role", &SpaceKnob::role, document::one_of(knob_role_names())).required())
          .add(key("option", &SpaceKnob::option, document::string()))
          .add(key("is_flag", &SpaceKnob::is_flag, document::boolean()))
          .add(key("off", &SpaceKnob::off, document::string()))
          .add(key("type", &SpaceKnob::type, document::one_of({"int", "bool", "categorical"}))
                   .required())
          .add(key("low", &SpaceKnob::low, bound()))
          .add(key("high", &SpaceKnob::high, bound()))
          .add(key("scale", &SpaceKnob::scale, document::one_of({"log", "log2"})))
          .add(key("when", &SpaceKnob::when, document::string()))
          .add(key("memory", &SpaceKnob::memory, document::one_of({"increases", "decreases"})))
          .add(key("needs", &SpaceKnob::needs, document::string()))
          .add(key("excluded_by", &SpaceKnob::excluded_by, strings()))
          .add(key("only_with", &SpaceKnob::only_with, strings()))
          .add(key("choices", &SpaceKnob::choices, strings()))
          .add(key("settings", &SpaceKnob::settings,
                   document::list_of(document::object(setting_section()), study::k_max_elements)))
          .add(key("default", &SpaceKnob::default_value, document::string()))
          .check([](const ObjectNode& object, SpaceKnob& knob) { check_knob(object, knob); });
  return k_section;
}

const Section<SpaceFact>& fact_section() {
  static const auto k_section =
      Section<SpaceFact>("fact", "", "an object such as {\"name\": \"heads\", ...}")
          .add(key("name", &SpaceFact::name, document::string()).required())
          .add(key("options", &SpaceFact::options, strings()).required())
          .add(key("value", &SpaceFact::value, document::string()))
          .add(key("of_model", &SpaceFact::of_model, document::boolean()))
          .add(key("is_set", &SpaceFact::is_set, document::boolean()));
  return k_section;
}

const Section<SpaceLaw>& law_section() {
  static const auto k_section =
      Section<SpaceLaw>("law", "", "an object such as {\"law\": \"heads % tp == 0\", ...}")
          .add(key("law", &SpaceLaw::law, document::string()).required())
          .add(key("why", &SpaceLaw::why, document::string()).required());
  return k_section;
}

/// Reports expressions of facts and laws that are invalid or mention unknown names.
void check_laws(const ObjectNode& object, const ReadySpace& space) {
  Facts facts = {{"cpus", 1.0}, {"gpus", 1.0}, {"memory_gb", 1.0}};
  std::vector<std::string> parameters;
  for (const SpaceKnob& knob : space.knobs)
    parameters.push_back(knob.parameter);
  const auto check = [&](const std::string& expression) {
    const auto compiled = Expression::compile(expression, parameters, facts);
    if (!compiled) object.node().fault(compiled.error().message);
  };
  for (const SpaceFact& fact : space.facts) {
    if (!fact.value.empty()) check(fact.value);
    if (fact.is_set && fact.options.empty()) object.node().fault("\"is_set\" needs an option");
    facts[fact.name] = 1.0;
  }
  for (const SpaceLaw& law : space.laws)
    check(law.law);
  for (const std::string& term : space.memory_terms)
    check(term);
}

const Section<ReadySpace>& space_section() {
  static const auto k_section =
      Section<ReadySpace>("space", "", "an object such as {\"name\": \"timm\", ...}")
          .add(key("name", &ReadySpace::name, document::string()).required())
          .add(key("title", &ReadySpace::title, document::string()).required())
          .add(key("page", &ReadySpace::page, document::string()).required())
          .add(key("programs", &ReadySpace::programs, strings()))
          .add(key("modules", &ReadySpace::modules, strings()))
          .add(key("scripts", &ReadySpace::scripts, strings()))
          .add(key("options", &ReadySpace::options, strings()))
          .add(key("config_keys", &ReadySpace::config_keys, strings()))
          .add(key("asks_help", &ReadySpace::asks_help, document::boolean()))
          .add(key("form", &ReadySpace::form,
                   document::one_of({"--name value", "--name=value", "name=value", "in the file"}))
                   .required())
          .add(key("knobs", &ReadySpace::knobs,
                   document::list_of(document::object(knob_section()), study::k_max_elements))
                   .required())
          .add(key("models", &ReadySpace::models, strings()))
          .add(key("facts", &ReadySpace::facts,
                   document::list_of(document::object(fact_section()), study::k_max_elements)))
          .add(key("laws", &ReadySpace::laws,
                   document::list_of(document::object(law_section()), study::k_max_elements)))
          .add(key("memory_terms", &ReadySpace::memory_terms, strings()))
          .add(key("epochs", &ReadySpace::epochs, document::string()))
          .add(key("steps", &ReadySpace::steps, document::string()))
          .add(key("step_size", &ReadySpace::step_size, document::string()))
          .add(key("reports", &ReadySpace::reports, as_in_a_study()))
          .check([](const ObjectNode& object, ReadySpace& space) {
            if (space.programs.empty() && space.modules.empty() && space.scripts.empty() &&
                space.options.empty() && space.config_keys.empty()) {
              object.node().fault(
                  "nothing identifies this program: give \"options\" or \"programs\"");
            }
            check_laws(object, space);
          });
  return k_section;
}

bool has_any(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// True if `options` include all `names`; false if `names` is empty.
bool has_all(const std::vector<ProgramOption>& options, const std::vector<std::string>& names) {
  return !names.empty() && std::ranges::all_of(names, [&](const std::string& name) {
    return std::ranges::any_of(
        options, [&](const ProgramOption& option) { return plain_name(option.name) == name; });
  });
}

}  // namespace

Result<ReadySpace> read_ready_space(const fs::path& file) {
  const auto json = read_json_file(file);
  if (!json) return tl::unexpected(json.error());
  document::Reading reading{.faults = {}, .folder = file.parent_path(), .scope = nullptr};
  ReadySpace space;
  space_section().read(Node(*json, "", reading), space);
  if (!reading.faults.empty()) return tl::unexpected(reading.faults.to_error(file, {}));
  return space;
}

Result<std::vector<ReadySpace>> shipped_spaces() {
  std::vector<ReadySpace> spaces;
  for (const fs::path& file : shipped_json_files("spaces")) {
    auto space = read_ready_space(file);
    if (!space) return tl::unexpected(space.error());
    spaces.push_back(*std::move(space));
  }
  return spaces;
}

const ReadySpace* space_by_command(const std::vector<ReadySpace>& spaces,
                                   const std::vector<std::string>& argv) {
  const std::string program =
      argv.empty() ? "" : fs::path(argv[handed_over_to(argv)]).filename().string();
  for (const ReadySpace& space : spaces) {
    if (has_any(space.programs, program)) return &space;
    for (std::size_t i = 0; i < argv.size(); ++i) {
      if (i > 0 && argv[i - 1] == "-m" && has_any(space.modules, argv[i])) return &space;
      for (const std::string& script : space.scripts) {
        const bool whole = argv[i] == script || argv[i].ends_with("/" + script);
        if (whole) return &space;
      }
    }
  }
  return nullptr;
}

const ReadySpace* space_by_facts(const std::vector<ReadySpace>& spaces,
                                 const ProgramFacts& program) {
  const ReadySpace* best = nullptr;
  for (const ReadySpace& space : spaces) {
    const bool more = best == nullptr || space.options.size() > best->options.size();
    if (more && has_all(program.options, space.options)) best = &space;
  }
  if (best != nullptr) return best;
  for (const ReadySpace& space : spaces) {
    for (const NamedConfig& config : program.configs) {
      if (has_all(config.settings, space.config_keys)) return &space;
    }
  }
  return nullptr;
}

OptionForm option_form(const ReadySpace& space) {
  if (space.form == "name=value") return OptionForm::assignment;
  return space.form == "--name=value" ? OptionForm::joined : OptionForm::separate;
}

std::vector<ProgramOption> declared_options(const ReadySpace& space) {
  std::vector<ProgramOption> options;
  if (space.is_of_a_file()) return options;
  for (const SpaceKnob& knob : space.knobs) {
    if (knob.option.empty()) continue;
    options.push_back({.name = knob.option,
                       .negation = knob.off,
                       .form = knob.is_flag ? OptionForm::flag : option_form(space),
                       .kind = knob.type == "int"    ? OptionKind::integer
                               : knob.type == "bool" ? OptionKind::boolean
                                                     : OptionKind::text});
  }
  for (const std::string& name : {space.epochs, space.steps, space.step_size}) {
    if (!name.empty()) options.push_back({.name = name, .form = option_form(space)});
  }
  return options;
}

}  // namespace steptune
