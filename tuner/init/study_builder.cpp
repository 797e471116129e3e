// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/study_builder.hpp"

#include <cstddef>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "tuner/config_edit/truth_word.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/knob_declaration.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

std::string hole(const std::string& parameter) {
  return fmt::format("{{{}}}", parameter);
}

/// Makes each trial use its copy of a file: replaces the file's name in the command, as a word or
/// after `=`, by a placeholder.
void put_placeholder(const std::string& file, const std::string& name, Json& command) {
  const std::string as_template = command_template({file})[0].get<std::string>();
  for (Json& word : command) {
    if (!word.is_string()) continue;
    auto text = word.get<std::string>();
    if (text != as_template && !text.ends_with("=" + as_template)) continue;
    text.resize(text.size() - as_template.size());
    word = text + hole(name);
  }
}

}  // namespace

StudyBuilder::StudyBuilder(std::vector<std::string> argv, const Facts& machine,
                           NewOptions new_options)
    : machine_(machine), new_options_(new_options), argv_(std::move(argv)) {}

void StudyBuilder::add(GuessedKnob knob, Json declaration, const Json& baseline,
                       std::string comment) {
  const std::string& name = knob.parameter;
  parameters_[name] = std::move(declaration);
  if (!baseline.is_null()) baseline_[name] = baseline;
  guess_.comments["/parameters/" + name] = std::move(comment);
  guess_.tuned.push_back(std::move(knob));
}

void StudyBuilder::leave(const std::string& what, const std::string& why) {
  guess_.left_out.push_back(fmt::format("{}: {}", what, why));
}

void StudyBuilder::add_constraint(std::string constraint, std::string comment) {
  constraints_.push_back(std::move(constraint));
  if (comment.empty()) return;
  std::string& comments = guess_.comments["/constraints"];
  comments += (comments.empty() ? "" : "\n") + std::move(comment);
}

void StudyBuilder::give_option(const std::string& parameter, const ProgramOption& option) {
  const auto place =
      option.stands_in_command ? value_place(argv_, option) : std::optional<ValuePlace>();
  if (place) return give_in_place(parameter, option, *place);
  argv_ = without_option(argv_, option);
  const Json& declared = parameters_[parameter];
  if (text_at(declared, "type") == "bool") return give_truth(parameter, option);
  const std::vector<std::string> words = option_words(option, hole(parameter));
  if (declared.contains("when") && words.size() > 1) {
    parts_.push_back({{"args", words}});
    return;
  }
  for (const std::string& word : words)
    parts_.push_back(word);
}

void StudyBuilder::give_truth(const std::string& parameter, const ProgramOption& option) {
  const std::vector<std::string> on = option_words(option, "true");
  const std::vector<std::string> off = option_words(option, "false");
  parts_.push_back({{"when", parameter}, {"args", on}});
  if (!off.empty()) parts_.push_back({{"when", fmt::format("not {}", parameter)}, {"args", off}});
}

void StudyBuilder::give_in_place(const std::string& parameter, const ProgramOption& option,
                                 const ValuePlace& place) {
  std::string& word = argv_[place.word];
  const std::string before = command_template({word.substr(0, place.offset)})[0];
  const std::string today = word.substr(place.offset);
  const auto args = [&](const std::string& value) { return Json::array({before + value}); };
  const Json& declared = parameters_[parameter];
  const bool is_truth = text_at(declared, "type") == "bool";
  const std::string when = is_truth ? parameter : text_at(declared, "when");
  Json parts = args(hole(parameter));
  if (!when.empty()) {
    const std::string on = is_truth ? truth_word_like(today, true) : hole(parameter);
    const std::string off = is_truth ? truth_word_like(today, false) : today;
    parts = {{{"when", when}, {"args", args(on)}},
             {{"when", fmt::format("not ({})", when)}, {"args", args(off)}}};
  }
  // The NUL makes the key unique, because no word of a command contains one.
  word = std::string(1, '\0') + option.name;
  in_place_[word] = std::move(parts);
}

Json StudyBuilder::command() const {
  Json command = Json::array();
  const std::size_t end =
      new_options_ == NewOptions::before_other_options ? options_begin(argv_) : options_end(argv_);
  for (std::size_t at = 0; at <= argv_.size(); ++at) {
    if (at == end) command.insert(command.end(), parts_.begin(), parts_.end());
    if (at == argv_.size()) break;
    const auto replaced = in_place_.find(argv_[at]);
    const Json words =
        replaced != in_place_.end() ? replaced->second : command_template({argv_[at]});
    command.insert(command.end(), words.begin(), words.end());
  }
  return command;
}

void StudyBuilder::give_setting(const std::string& parameter, const KnobSetting& setting,
                                const std::vector<ProgramOption>& options) {
  for (const ProgramOption& option : options)
    argv_ = without_option(argv_, option);
  parts_.push_back({{"when", fmt::format("{} == '{}'", parameter, setting.label)},
                    {"args", command_template(setting.args)}});
}

void StudyBuilder::give_in_file(const std::string& parameter, const std::string& file,
                                const std::string& key) {
  edits_[file][key] = hole(parameter);
}

void StudyBuilder::give_variable(const std::string& parameter, const std::string& variable) {
  environment_[variable] = hole(parameter);
}

void StudyBuilder::use_hook(Json rules) {
  hook_rules_ = std::move(rules);
}

StudyGuess StudyBuilder::finish(const std::string& name) && {
  Json& document = guess_.document;
  document["name"] = name;
  Json words = command();
  Json files = edited_files(words);
  document["command"] = std::move(words);
  if (!files.empty()) document["config_files"] = std::move(files);
  if (!environment_.empty()) document["env"] = std::move(environment_);
  if (hook_rules_) document["hooks"]["python"] = *std::move(hook_rules_);
  for (GuessedKnob& knob : guess_.tuned)
    knob.range = range_text(parameters_[knob.parameter], machine_);
  document["parameters"] = std::move(parameters_);
  if (!constraints_.empty()) document["constraints"] = std::move(constraints_);
  document["baseline"] = std::move(baseline_);
  return std::move(guess_);
}

/// Returns `config_files` for the document, and puts their placeholders into the command.
Json StudyBuilder::edited_files(Json& command) {
  Json files = Json::object();
  for (const auto& [file, edits] : edits_) {
    const std::string name = placeholder_of(file, files);
    files[name] = {{"file", file}, {"edits", edits}};
    put_placeholder(file, name, command);
    guess_.comments["/config_files/" + name] =
        "each trial reads a copy with these values; the file itself is left alone";
  }
  return files;
}

/// Returns the name of a file's placeholder: `ds_config` for `configs/ds_config.json`, or a longer
/// name if this name is in use.
std::string StudyBuilder::placeholder_of(const std::string& file, const Json& taken) const {
  std::string name =
      document::as_identifier(std::filesystem::path(file).stem().string().substr(0, 40), "file_");
  while (has(name) || taken.contains(name) || machine_.contains(name))
    name += "_file";
  return name;
}

}  // namespace steptune
