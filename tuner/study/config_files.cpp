// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/config_files.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "common/machine/system_files.hpp"
#include "common/utf8.hpp"
#include "tuner/config_edit/file_references.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// Returns the file's text with the configuration's values, for a copy in another folder. Makes
/// paths relative to the original's folder absolute.
Result<std::string> text_of_copy(const StudySpec& study, const ConfigFileSpec& config,
                                 const Configuration& configuration) {
  auto text = config_text(config, configuration);
  const auto format = config_format_of(config.file);
  if (!text || !format) return text;
  const auto scalars = scan_config(*format, *text, config.file.filename().string());
  if (!scalars) return tl::unexpected(scalars.error());
  const FileReferences references =
      file_references(*format, *scalars, *text, config.file.parent_path(), study.working_directory);
  return edited_text(*text, references.edits);
}

/// Returns the parameter's name if the template is a single placeholder (`{lr}`). Otherwise returns
/// an empty text.
std::string only_parameter(const document::StringTemplate& rule) {
  const auto names = rule.parameters();
  return names.size() == 1 && rule.text() == "{" + names.front() + "}" ? names.front() : "";
}

}  // namespace

Result<std::string> read_config_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return fail(ErrorKind::not_found, fmt::format("there is no file {}", file.string()));
  }
  auto text = read_system_file(file, k_most_text_bytes + 1);
  if (!text) return fail(ErrorKind::not_found, fmt::format("{} cannot be read", file.string()));
  if (text->size() > k_most_text_bytes) {
    return fail(
        ErrorKind::usage,
        fmt::format("{} is larger than 1 MiB: too much for a configuration file", file.string()));
  }
  if (!is_utf8(*text)) {
    return fail(ErrorKind::usage, fmt::format("{} is not UTF-8", file.string()));
  }
  return *std::move(text);
}

ConfigValues config_values(const ConfigFileSpec& config, const Configuration& configuration) {
  ConfigValues wanted;
  for (const auto& [key, rule] : config.edits) {
    auto value = rule.value(configuration);
    if (!value) continue;
    std::string name = only_parameter(rule);
    if (name.empty() || wanted.values.contains(name)) name = key;
    if (wanted.values.contains(name)) name = fmt::format("{}={}", key, rule.text());
    wanted.keys.emplace(name, key);
    wanted.values.set(std::move(name), *std::move(value));
  }
  return wanted;
}

Json config_files_json(const StudySpec& study, const Configuration& configuration) {
  Json json = Json::object();
  for (const auto& [name, config] : study.config_files) {
    const ConfigValues wanted = config_values(config, configuration);
    Json values = Json::object();
    for (const auto& [parameter, key] : wanted.keys)
      values[key] = to_json(*wanted.values.find(parameter));
    json[name] = {{"file", config.file.string()}, {"values", std::move(values)}};
  }
  return json;
}

bool same_config_files(const StudySpec& study, const Configuration& one,
                       const Configuration& other) {
  return std::ranges::all_of(study.config_files, [&](const auto& named) {
    return config_values(named.second, one).values == config_values(named.second, other).values;
  });
}

Result<std::string> config_text(const ConfigFileSpec& config, const Configuration& configuration) {
  const auto format = config_format_of(config.file);
  if (!format) return tl::unexpected(format.error());
  const ConfigValues wanted = config_values(config, configuration);
  const auto changes = config_changes(*format, config.content, wanted.values, wanted.keys,
                                      config.file.filename().string());
  if (!changes) return tl::unexpected(changes.error());
  return edited_text(config.content, edits_of(*changes));
}

document::NamedTexts config_copies(const StudySpec& study, const std::filesystem::path& log_path) {
  document::NamedTexts paths;
  if (log_path.empty()) return paths;
  for (const auto& [name, config] : study.config_files) {
    std::filesystem::path copy = log_path;
    copy.replace_extension(fmt::format(".{}{}", name, config.file.extension().string()));
    paths.emplace(name, copy.string());
  }
  return paths;
}

document::NamedTexts trial_config_paths(const StudySpec& study,
                                        const std::filesystem::path& log_path) {
  return study.runner->traits().sees_files ? config_copies(study, log_path)
                                           : carried_config_paths(study);
}

document::NamedTexts carried_config_paths(const StudySpec& study) {
  document::NamedTexts paths;
  for (const auto& [name, config] : study.config_files) {
    paths.emplace(name, fmt::format("/tmp/steptune/{}{}", name, config.file.extension().string()));
  }
  return paths;
}

std::map<std::string, std::string> carried_config_files(const StudySpec& study,
                                                        const Configuration& configuration) {
  std::map<std::string, std::string> files;
  for (const auto& [name, path] : carried_config_paths(study)) {
    // `write_config_copies` runs first and reports files that cannot be edited.
    if (auto text = config_text(study.config_files.at(name), configuration)) {
      files.emplace(path, *std::move(text));
    }
  }
  return files;
}

Result<void> write_config_copies(const StudySpec& study, const Configuration& configuration,
                                 const std::filesystem::path& log_path) {
  for (const auto& [name, path] : config_copies(study, log_path)) {
    const auto text = text_of_copy(study, study.config_files.at(name), configuration);
    if (!text) return tl::unexpected(text.error());
    if (read_system_file(path) == *text) continue;
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream << *text;
    stream.close();
    if (stream) continue;
    return fail(ErrorKind::store, "the copy of a configuration file cannot be written", path,
                "make its folder writable, or choose a history elsewhere with --db");
  }
  return {};
}

}  // namespace steptune
