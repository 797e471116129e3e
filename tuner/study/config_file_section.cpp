// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "tuner/study/config_files.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_scope.hpp"

namespace steptune::study {
namespace {

using document::StringTemplate;
using document::Writing;

/// Key for the file's text. Stored documents contain the whole text; the fingerprint contains only
/// the part that trials do not replace.
Key<ConfigFileSpec> content_key() {
  return {"content",
          [](const Node& node, ConfigFileSpec& config) {
            config.content = node.string(k_most_text_bytes).value_or("");
          },
          [](const ConfigFileSpec& config, const Writing& writing) {
            return std::optional(Json(writing.fingerprint ? config.kept : config.content));
          },
          document::string().schema};
}

bool always_has_value(const StringTemplate& rule, const StudyScope& scope) {
  return std::ranges::none_of(rule.parameters(), [&](const std::string& name) {
    return scope.find(name)->when.has_value();
  });
}

/// Checks that each edit has a place in the file, and computes `kept`.
void settle_edits(const Node& edits, const std::vector<ConfigScalar>& scalars,
                  ConfigFileSpec& config) {
  if (edits.json().is_object() && edits.json().empty()) {
    edits.fault("names nothing that a trial would change: give keys of the file and their values");
  }
  std::vector<TextEdit> replaced;
  for (const auto& [name, rule] : config.edits) {
    const auto place = config_place(scalars, name);
    if (!place) {
      edits.child(name).fault(
          fmt::format("in {}: {}", config.file.filename().string(), place.error().message));
    } else if (always_has_value(rule, scope_of(edits))) {
      replaced.push_back({(*place)->begin, (*place)->end, ""});
    }
  }
  std::ranges::sort(replaced, {}, &TextEdit::begin);
  config.kept = edited_text(config.content, replaced);
}

void settle_file(const ObjectNode& object, ConfigFileSpec& config) {
  const auto file = object.find("file");
  if (!file || config.file.empty()) return;
  const std::string name = config.file.filename().string();
  const auto format = config_format_of(config.file);
  if (!format) return file->fault(fmt::format("{} {}", name, document::with_hint(format.error())));
  if (!object.has("content")) {
    auto content = read_config_file(config.file);
    if (!content) return file->fault(content.error());
    config.content = *std::move(content);
  }
  const auto scalars = scan_config(*format, config.content, name);
  if (!scalars) {
    return file->fault(fmt::format("{}: {}", scalars.error().where, scalars.error().message));
  }
  if (const auto edits = object.find("edits")) settle_edits(*edits, *scalars, config);
}

std::optional<std::string> fault_of_name(const std::string& name, const StudyScope& scope) {
  if (!document::is_identifier(name)) {
    return fmt::format(
        "\"{}\" is not a placeholder's name: use letters, digits and _, not starting with a digit",
        printable_line(name, 60));
  }
  if (scope.find(name) != nullptr) {
    return fmt::format("a parameter is called {}, too: give the file another name", name);
  }
  if (scope.fact(name)) {
    return fmt::format("{} is a fact about the machine: give the file another name", name);
  }
  return std::nullopt;
}

std::map<std::string, ConfigFileSpec> read_files(const Type<ConfigFileSpec>& type,
                                                 const Node& node) {
  std::map<std::string, ConfigFileSpec> files;
  for (const auto& [name, child] :
       node.members("an object of configuration files by name", k_max_elements)) {
    if (const auto fault = fault_of_name(name, scope_of(node))) {
      child.fault(*fault);
      continue;
    }
    if (auto config = type.read(child)) files.insert_or_assign(name, *std::move(config));
  }
  // Add the names last, because the values of a file may not mention another file.
  for (const auto& [name, config] : files)
    scope_of(node).add_file(name);
  return files;
}

}  // namespace

const Section<ConfigFileSpec>& config_file_section() {
  static const auto k_section =
      Section<ConfigFileSpec>("config_file",
                              "A configuration file of which each trial reads an edited copy.",
                              "an object such as {\"file\": \"ds.json\", \"edits\": "
                              "{\"bf16.enabled\": \"{bf16}\"}}")
          .add(key("file", &ConfigFileSpec::file, document::path())
                   .required()
                   .doc("JSON, YAML, TOML or INI file, relative to the study file"))
          .add(key("edits", &ConfigFileSpec::edits,
                   document::map_of(document::string_template(),
                                    "an object of values by key of the file", k_max_elements))
                   .required()
                   .doc("a trial's values by key, as templates: `{\"data.batch_size\": "
                        "\"{batch_size}\"}`"))
          .add(content_key().omitted_at_default().written_by_steptune().doc(
              "the file's text, in stored studies"))
          .check([](const ObjectNode& object, ConfigFileSpec& config) {
            settle_file(object, config);
          });
  return k_section;
}

Type<std::map<std::string, ConfigFileSpec>> config_files() {
  const auto file = document::object(config_file_section());
  auto type = document::map_of(file, "", k_max_elements);
  type.read = [file](const Node& node) { return std::optional(read_files(file, node)); };
  return with_schema_members(
      std::move(type), Json{{"propertyNames", {{"pattern", document::k_identifier_pattern}}}});
}

}  // namespace steptune::study
