// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/command_line.hpp"

namespace steptune {
namespace {

/// Words of `argv` that belong to the option, from `at` on; 0 if it does not stand there.
struct Place {
  std::size_t words = 0;
  std::string value;
};

Place place_at(const std::vector<std::string>& argv, std::size_t at, const ProgramOption& option) {
  const std::string& word = argv[at];
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (!option.negation.empty() && word == option.negation) return {1, "false"};
  if (!option.is_called(name)) return {};
  if (equals != std::string::npos) return {1, word.substr(equals + 1)};
  if (option.form == OptionForm::assignment) return {};
  const bool takes_value =
      option.form == OptionForm::separate ||
      (option.form == OptionForm::joined && option.kind != OptionKind::boolean);
  const bool has_value = at + 1 < argv.size() && !argv[at + 1].starts_with("--");
  if (!takes_value || !has_value) return {1, "true"};
  return {2, argv[at + 1]};
}

}  // namespace

std::optional<std::string> value_on_command_line(const std::vector<std::string>& argv,
                                                 const ProgramOption& option) {
  std::optional<std::string> value;
  for (std::size_t at = 1; at < argv.size();) {
    const Place place = place_at(argv, at, option);
    if (place.words > 0) value = place.value;
    at += place.words > 0 ? place.words : 1;
  }
  return value;
}

std::vector<std::string> without_option(const std::vector<std::string>& argv,
                                        const ProgramOption& option) {
  std::vector<std::string> kept;
  for (std::size_t at = 0; at < argv.size();) {
    const Place place = at == 0 ? Place{} : place_at(argv, at, option);
    if (place.words == 0) kept.push_back(argv[at]);
    at += place.words > 0 ? place.words : 1;
  }
  return kept;
}

std::vector<std::string> option_words(const ProgramOption& option, const std::string& value) {
  std::string written = value;
  if (option.form == OptionForm::flag) {
    if (truth_of(value).value_or(true)) return {option.name};
    return option.negation.empty() ? std::vector<std::string>{}
                                   : std::vector<std::string>{option.negation};
  }
  if (option.python_truth && (value == "true" || value == "false")) {
    written[0] = static_cast<char>(written[0] - 'a' + 'A');
  }
  if (option.form == OptionForm::separate) return {option.name, written};
  return {option.name + "=" + written};
}

}  // namespace steptune
