// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/command_line.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/config_edit/truth_word.hpp"

namespace steptune {
namespace {

/// The words of an option at one position of `argv`; 0 words if the option is not there.
struct Place {
  std::size_t words = 0;
  std::string value;
};

bool takes_value(const ProgramOption& option) {
  return option.form == OptionForm::separate || option.form == OptionForm::any_text ||
         (option.form == OptionForm::joined && option.kind != OptionKind::boolean);
}

/// Returns the value in `-b64`; nullopt for a longer name with the same start (`-batch 64`).
std::optional<std::string> attached_value(const std::string& word, const ProgramOption& option) {
  const std::string name = word.substr(0, 2);
  if (word.size() < 3 || name == "--" || !takes_value(option) || !option.is_called(name)) {
    return std::nullopt;
  }
  const std::string value = word.substr(2);
  const bool known = std::ranges::find(option.choices, value) != option.choices.end();
  return known || parse_finite(value) ? std::optional(value) : std::nullopt;
}

Place place_at(const std::vector<std::string>& argv, std::size_t at, const ProgramOption& option) {
  const std::string& word = argv[at];
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const bool is_off =
      !option.negation.empty() && (word == option.negation || "-" + word == option.negation);
  if (is_off) return {1, "false"};
  if (const auto attached = attached_value(word, option)) return {1, *attached};
  if (!option.is_called(name)) return {};
  if (equals != std::string::npos) return {1, word.substr(equals + 1)};
  if (option.form == OptionForm::assignment) return {};
  const bool has_value = at + 1 < argv.size() && !is_option_word(argv[at + 1]);
  if (!takes_value(option) || !has_value) return {1, "true"};
  return {2, argv[at + 1]};
}

/// True for modules that run the script or module after them.
bool is_launcher_module(const std::string& module) {
  static constexpr std::array k_launchers{"torch.distributed.run", "torch.distributed.launch",
                                          "accelerate.commands.launch",
                                          "deepspeed.launcher.runner"};
  return std::ranges::find(k_launchers, module) != k_launchers.end();
}

/// True for programs that run the command after their `--`.
bool is_launcher(const std::string& word) {
  static const std::set<std::string> k_launchers{"uv",          "srun",      "docker", "podman",
                                                 "singularity", "apptainer", "mpirun", "mpiexec",
                                                 "conda",       "poetry",    "pixi"};
  return hands_over(word) || k_launchers.contains(std::filesystem::path(word).filename().string());
}

/// Returns the position of the word that names the program. This is a script, a module, the word
/// after a launcher's `--`, or `train` in `nice -n 10 train`. If there is none, returns the first
/// word.
std::size_t program_at(const std::vector<std::string>& argv) {
  bool may_run_module = false;
  const std::size_t first = handed_over_to(argv);
  const bool may_be_program =
      !argv.empty() && !runs_modules(argv[first]) && !is_launcher(argv[first]);
  for (std::size_t at = first; at < argv.size(); ++at) {
    // In `--config conf.py`, the file is the value of an option, not the program.
    const bool may_be_value = may_be_program && at > first && argv[at - 1].starts_with('-');
    if (argv[at].ends_with(".py") && !argv[at].starts_with('-') && !may_be_value) return at;
    may_run_module = may_run_module || runs_modules(argv[at]);
    const bool is_module = argv[at] == "-m" && may_run_module && at + 1 < argv.size();
    if (is_module && !is_launcher_module(argv[at + 1])) return at + 1;
  }
  const auto separator = std::ranges::find(argv, "--");
  if (!argv.empty() && is_launcher(argv[first]) && argv.end() - separator > 1) {
    return static_cast<std::size_t>(separator - argv.begin()) + 1;
  }
  return first;
}

}  // namespace

bool runs_modules(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename().string();
  return name.starts_with("python") || name == "torchrun" || name == "accelerate" ||
         name == "deepspeed";
}

ProgramWords program_words(const std::vector<std::string>& argv) {
  ProgramWords words;
  words.begin = std::min(program_at(argv) + 1, argv.size());
  const auto first = argv.begin() + static_cast<std::ptrdiff_t>(words.begin);
  words.end = static_cast<std::size_t>(std::find(first, argv.end(), "--") - argv.begin());
  return words;
}

bool is_option_word(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word.find_first_of("0123456789.", 1) != 1;
}

bool is_setting_pair(const std::vector<std::string>& argv, std::size_t at) {
  static const RE2 k_path("[A-Z][A-Z0-9_]*(?:\\.[A-Z0-9_]+)+");
  const ProgramWords words = program_words(argv);
  return at >= words.begin && at + 1 < words.end && RE2::FullMatch(argv[at], k_path) &&
         !is_option_word(argv[at + 1]);
}

std::size_t options_end(const std::vector<std::string>& argv) {
  const ProgramWords words = program_words(argv);
  for (std::size_t at = words.begin; at < words.end; ++at) {
    if (!is_setting_pair(argv, at)) continue;
    const bool follows_option = at > words.begin && argv[at - 1].starts_with("--") &&
                                argv[at - 1].find('=') == std::string::npos;
    return follows_option ? at - 1 : at;
  }
  return words.end;
}

std::size_t options_begin(const std::vector<std::string>& argv) {
  const ProgramWords words = program_words(argv);
  for (std::size_t at = words.begin; at < words.end; ++at) {
    if (argv[at].size() > 1 && argv[at].starts_with('-')) return at;
  }
  return words.begin;
}

std::vector<std::string> with_options(std::vector<std::string> argv,
                                      const std::vector<std::string>& words) {
  const auto end = static_cast<std::ptrdiff_t>(options_end(argv));
  argv.insert(argv.begin() + end, words.begin(), words.end());
  return argv;
}

std::vector<std::string> with_full_names(std::vector<std::string> argv,
                                         const std::vector<ProgramOption>& options) {
  const ProgramWords words = program_words(argv);
  for (std::size_t at = words.begin; at < words.end; ++at) {
    const std::string name = argv[at].substr(0, argv[at].find('='));
    if (!name.starts_with("--")) continue;
    const bool is_whole = std::ranges::any_of(options, [&name](const ProgramOption& option) {
      return option.is_called(name) || option.negation == name;
    });
    if (is_whole) continue;
    std::set<std::string> meant;
    for (const ProgramOption& option : options) {
      const bool its_alias = std::ranges::any_of(
          option.aliases, [&name](const std::string& alias) { return alias.starts_with(name); });
      if (its_alias || option.name.starts_with(name)) meant.insert(option.name);
      if (!option.negation.empty() && option.negation.starts_with(name)) {
        meant.insert(option.negation);
      }
    }
    if (meant.size() == 1) argv[at].replace(0, name.size(), *meant.begin());
  }
  return argv;
}

bool may_be_abbreviated(const std::vector<std::string>& argv, const ProgramOption& option) {
  const ProgramWords words = program_words(argv);
  for (std::size_t at = words.begin; at < words.end; ++at) {
    const std::string name = argv[at].substr(0, argv[at].find('='));
    const bool is_cut = name.size() > 3 && name.starts_with("--") && !option.is_called(name) &&
                        option.name.starts_with(name);
    if (is_cut) return true;
  }
  return false;
}

std::optional<std::string> value_on_command_line(const std::vector<std::string>& argv,
                                                 const ProgramOption& option) {
  std::optional<std::string> value;
  const ProgramWords words = program_words(argv);
  for (std::size_t at = words.begin; at < words.end;) {
    const Place place = place_at(argv, at, option);
    if (place.words > 0) value = place.value;
    at += place.words > 0 ? place.words : 1;
  }
  if (value && option.form == OptionForm::any_text) return value->empty() ? "false" : "true";
  return value;
}

std::optional<ValuePlace> value_place(const std::vector<std::string>& argv,
                                      const ProgramOption& option) {
  std::optional<ValuePlace> found;
  const ProgramWords words = program_words(argv);
  for (std::size_t at = words.begin; at < words.end;) {
    const Place place = place_at(argv, at, option);
    const std::size_t equals = argv[at].find('=');
    if (place.words == 2) found = ValuePlace{at + 1, 0};
    if (place.words == 1 && equals != std::string::npos) found = ValuePlace{at, equals + 1};
    at += place.words > 0 ? place.words : 1;
  }
  return found;
}

std::vector<std::string> without_option(const std::vector<std::string>& argv,
                                        const ProgramOption& option) {
  std::vector<std::string> kept;
  const ProgramWords words = program_words(argv);
  for (std::size_t at = 0; at < argv.size();) {
    const bool is_its_own = at >= words.begin && at < words.end;
    const Place place = is_its_own ? place_at(argv, at, option) : Place{};
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
  if (option.form == OptionForm::any_text && !truth_of(value).value_or(true)) return {};
  if (option.python_truth && (value == "true" || value == "false")) {
    written[0] = static_cast<char>(written[0] - 'a' + 'A');
  }
  if (option.form == OptionForm::separate || option.form == OptionForm::any_text) {
    return {option.name, written};
  }
  return {option.name + "=" + written};
}

}  // namespace steptune
