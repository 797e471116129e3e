// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/study_guess.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/knob_rules.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// Without bounds of its own a number is varied by these factors.
constexpr std::int64_t k_smaller = 4;
constexpr std::int64_t k_larger = 8;

constexpr const char* k_no_loss =
    "it changes what is learnt, and no loss is known that a guard could check (docs/study-file.md, "
    "guards)";

double fact_value(const std::string& expression, const Facts& facts) {
  const auto compiled = Expression::compile(expression, {}, facts);
  return compiled ? compiled->evaluate(Configuration{}) : std::nan("");
}

bool holds_here(const std::string& needs, const Facts& facts) {
  return needs.empty() || fact_value(needs, facts) != 0.0;
}

bool is_power(std::int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  const auto number = parse_finite(text);
  if (!number || std::floor(*number) != *number || std::abs(*number) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// A bound as the study file has it: a number, or what it says over facts.
Json bound_json(const std::string& bound) {
  if (const auto number = whole_number(bound)) return *number;
  return bound;
}

/// Freed memory stays with the program, so that its pages are not faulted in anew (mallopt(3)).
constexpr const char* k_keep_memory =
    "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296:glibc.malloc.top_pad=16777216";

/// The hook's knobs that an option of the program is as well.
std::string role_of_hook_knob(const std::string& name) {
  static const std::map<std::string, std::string> k_roles = {
      {"num_workers", "workers"},      {"prefetch_factor", "prefetch"},
      {"pin_memory", "transfer"},      {"num_threads", "threads"},
      {"openblas_threads", "threads"}, {"channels_last", "layout"},
      {"batch_size", "batch"},         {"compile", "compile"},
      {"precision", "precision"},      {"num_interop_threads", "threads"}};
  const auto found = k_roles.find(name);
  return found == k_roles.end() ? "" : found->second;
}

/// A study's parameters, command and baseline as they come together, knob by knob.
class Guessing {
 public:
  Guessing(const GuessInput& input, StudyGuess& guess)
      : input_(input), guess_(guess), argv_(input.program.argv), loss_(known_loss(input)) {}

  /// All that may be varied, before any is considered.
  void look_ahead(const std::vector<SpaceKnob>& rules) {
    will_accumulate_ = std::ranges::any_of(rules, [this](const SpaceKnob& rule) {
      const ProgramOption* option = rule.role == "accumulation" ? place_of(rule).option : nullptr;
      if (option == nullptr || (!knows_what_steps_are() && !tells_samples())) return false;
      const auto today = input_.program.today(*option);
      return today && whole_number(today->value);
    });
  }

  /// Which of several batch sizes is that of an optimizer step, no name tells.
  void leave_batches(std::vector<SpaceKnob>& rules) {
    const auto is_batch = [](const SpaceKnob& rule) { return rule.role == "batch"; };
    if (std::ranges::count_if(rules, is_batch) < 2) return;
    for (const SpaceKnob& rule : rules)
      if (is_batch(rule)) leave(rule.option, "one of several batch sizes; vary it by hand");
    std::erase_if(rules, is_batch);
  }

  void consider(const SpaceKnob& rule) {
    const std::string shown = rule.option.empty() ? rule.parameter : rule.option;
    roles_of_program_.insert(rule.role);
    if (parameters_.contains(rule.parameter)) return;
    if (!holds_here(rule.needs, input_.machine)) {
      return leave(shown, fmt::format("nothing to gain here ({} does not hold)", rule.needs));
    }
    if (!rule.settings.empty()) return offer_settings(rule);
    const Place place = place_of(rule);
    const ProgramOption* option = place.option;
    const bool another_training = rule.role == "batch" || rule.role == "accumulation";
    if (another_training && input_.same_training) {
      if (option != nullptr) leave(shown, "changes the training itself; vary it with --semantic");
      return;
    }
    if (option == nullptr) {
      if (is_of_a_file()) {
        leave(shown, "no value of the configuration file; write one there to vary it");
      }
      return;
    }
    if (const std::string needed = input_.program.missing_for(*option);
        place.config == nullptr && !needed.empty()) {
      return leave(shown, fmt::format("it needs {}, which the command does not give", needed));
    }
    if (const std::string why = why_not_in_file(rule); !why.empty()) return leave(shown, why);
    if (changes_learning(rule) && loss_.empty()) return leave(shown, k_no_loss);
    if (place.config == nullptr && input_.program.help_style != "argparse" &&
        may_be_abbreviated(input_.program.argv, *option)) {
      return leave(shown, "a word of the command may be its abbreviation; write it out");
    }
    if (const std::string why = why_not_accumulated(rule); !why.empty()) return leave(shown, why);
    const auto today = today_of(rule, *option);
    const std::string when = condition_of(rule);
    const bool active = rule.when.empty() || active_today(rule.when);
    if (!active && when.empty()) return leave(shown, "has no effect in the program as it is");
    if (!today && active) {
      return leave(shown, fmt::format("its default is unknown; write {} into the command",
                                      fmt::join(option_words(*option, "VALUE"), " ")));
    }
    Json parameter = {{"type", rule.type}};
    const std::string value = today ? today->value : "";
    if (place.config != nullptr && value == "auto") {
      return leave(shown,
                   fmt::format("\"auto\" in {}: the trainer fills it in", place.config->name));
    }
    if (rule.type == "int" && !settle_number(rule, value, parameter)) {
      return leave(shown, fmt::format("{} leaves no range", value.empty() ? "it" : value));
    }
    if (rule.type == "bool" && today && !settle_truth(*option, *today)) {
      return leave(shown, truth_of(value) ? "it cannot be switched off"
                                          : fmt::format("\"{}\" is not a boolean", value));
    }
    if (rule.type == "categorical" && !settle_choices(rule, value, parameter)) {
      return leave(shown, "there is no choice here");
    }
    if (!when.empty()) parameter["when"] = when;
    // A choice has no order, so that none of its values is known to need more.
    if (!rule.memory.empty() && rule.type != "categorical") parameter["memory"] = rule.memory;
    add(rule, place, std::move(parameter), active ? value : "", today && active ? today->from : "",
        !when.empty());
  }

  /// Knobs that a hook can set in the program and that no option of it sets.
  void add_hooked(const Survey& survey) {
    DraftOptions wanted;
    wanted.name = input_.name;
    wanted.argv = input_.program.argv;
    wanted.facts = input_.machine;
    const auto draft = draft_study(survey, wanted);
    Json rules = Json::object();
    hooks_ = rules;
    if (!draft) return;
    for (const auto& [name, parameter] : draft->document["parameters"].items()) {
      const std::string role = role_of_hook_knob(name);
      if (parameters_.contains(name) || (!role.empty() && roles_of_program_.contains(role)))
        continue;
      if (loss_.empty() && (role == "precision" || role == "batch")) {
        leave(name, k_no_loss);
        continue;
      }
      const std::string when = text_at(parameter, "when");
      const auto needed = document::identifiers_in(when);
      const bool is_free = std::ranges::all_of(needed, [this](const std::string& other) {
        return parameters_.contains(other) || input_.machine.contains(other) || other == "and" ||
               other == "or" || other == "not";
      });
      if (!is_free) continue;
      const Json& baseline = draft->document["baseline"];
      parameters_[name] = parameter;
      rules[name] = fmt::format("{{{}}}", name);
      if (baseline.contains(name)) baseline_[name] = baseline[name];
      if (!role.empty()) by_role_.emplace(role, name);
      guess_.comments["/parameters/" + name] = "set by the PyTorch hook (docs/hooks.md)";
      guess_.tuned.push_back({name, role, "", range_text(parameter),
                              baseline.contains(name) ? plain_text(baseline[name]) : "",
                              "the PyTorch hook"});
    }
    hooks_ = std::move(rules);
  }

  /// Variables that libraries in the program read, whatever its own options are.
  void add_environment(const NativeRuntimes& runtimes) {
    const bool has_threads = by_role_.contains("threads");
    if (runtimes.has_openmp && !has_threads) {
      add_threads(runtimes, "threads", "OMP_NUM_THREADS", "OpenMP");
    }
    if (runtimes.has_openmp) {
      // What a thread does that has finished its part: spin, or sleep.
      add_variable(runtimes, "omp_wait_policy", "OMP_WAIT_POLICY",
                   {{"active", "active"}, {"passive", "passive"}});
    }
    if (runtimes.has_openblas && !has_threads) {
      add_threads(runtimes, runtimes.has_openmp ? "blas_threads" : "threads",
                  "OPENBLAS_NUM_THREADS", "OpenBLAS");
    }
    if (runtimes.has_threads() && runtimes.has_glibc_malloc) {
      add_variable(runtimes, "malloc", "GLIBC_TUNABLES", {{"keep", k_keep_memory}});
    }
  }

  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] const std::map<std::string, std::string>& by_role() const { return by_role_; }

  void write() {
    Json& document = guess_.document;
    document["name"] = input_.name;
    Json command = command_template(argv_);
    const auto end = static_cast<std::ptrdiff_t>(program_words(argv_).end);
    command.insert(command.begin() + end, parts_.begin(), parts_.end());
    Json files = Json::object();
    for (const auto& [file, edits] : edits_) {
      const std::string name = placeholder_of(file, files);
      files[name] = {{"file", file}, {"edits", edits}};
      put_placeholder(file, name, command);
      guess_.comments["/config_files/" + name] =
          "each trial reads a copy with these values; the file itself is left alone";
    }
    document["command"] = std::move(command);
    if (!files.empty()) document["config_files"] = std::move(files);
    if (!environment_.empty()) document["env"] = environment_;
    if (hooks_) document["hooks"]["pytorch"] = *hooks_;
    const Json constraints = found_constraints();
    // A constraint may have left less of a range.
    for (GuessedKnob& knob : guess_.tuned)
      knob.range = range_text(parameters_[knob.parameter]);
    document["parameters"] = parameters_;
    if (!constraints.empty()) document["constraints"] = constraints;
    document["baseline"] = baseline_;
  }

 private:
  /// Where a knob's value is given.
  struct Place {
    const ProgramOption* option = nullptr;  ///< null: nowhere
    const NamedConfig* config = nullptr;    ///< the file that has it; null: the command line
  };

  [[nodiscard]] bool is_of_a_file() const {
    return input_.space != nullptr && input_.space->is_of_a_file();
  }

  /// Why this is not to be varied, if it is the accumulation; else empty.
  [[nodiscard]] std::string why_not_accumulated(const SpaceKnob& rule) const {
    if (rule.role != "accumulation") return "";
    if (!by_role_.contains("batch")) {
      return "no batch size is varied that would keep the samples of a step";
    }
    // A bar over a loader counts parts of an optimizer step: fewer parts would look faster.
    if (knows_what_steps_are() || tells_samples()) return "";
    return "its output reports no samples, and what it counts may be micro-batches";
  }

  /// What the program does if nothing is varied, and where that is said.
  [[nodiscard]] std::optional<ProgramFacts::Today> today_of(const SpaceKnob& rule,
                                                            const ProgramOption& option) const {
    if (auto today = input_.program.today(option)) return today;
    if (option.form == OptionForm::flag) {
      return ProgramFacts::Today{"false", "a flag that is not set"};
    }
    if (rule.default_value.empty()) return std::nullopt;
    return ProgramFacts::Today{published_default(rule),
                               fmt::format("the published default of {}", input_.space->title)};
  }

  /// A known trainer's output counts optimizer steps; who reads a known file is not known by that.
  [[nodiscard]] bool knows_what_steps_are() const {
    return input_.space != nullptr && !is_of_a_file();
  }

  [[nodiscard]] Place place_of(const SpaceKnob& rule) const {
    if (!is_of_a_file()) {
      const ProgramOption* option = option_of(rule.option);
      if (option != nullptr || input_.space != nullptr) return {option, nullptr};
    }
    for (const NamedConfig& config : input_.program.configs) {
      const auto setting = std::ranges::find(config.settings, rule.option, &ProgramOption::name);
      const bool is_there = setting != config.settings.end();
      if (is_there && !config.fixed.contains(setting->name)) return {&*setting, &config};
    }
    return {};
  }

  /// The value that a configuration file has for a key; empty where none has it.
  [[nodiscard]] std::string value_in_files(const std::string& key) const {
    SpaceKnob wanted;
    wanted.option = key;
    const Place place = place_of(wanted);
    return place.config == nullptr ? "" : place.option->default_value.value_or("");
  }

  /// What else stands in the file may forbid to vary a key of it.
  [[nodiscard]] std::string why_not_in_file(const SpaceKnob& rule) const {
    if (!is_of_a_file()) return "";
    if (!rule.excluded_by.empty() && truth_of(value_in_files(rule.excluded_by)).value_or(false)) {
      return fmt::format("{} is on", rule.excluded_by);
    }
    const std::string& whole = input_.space->step_size;
    if (rule.role == "batch" && !will_accumulate_ && !value_in_files(whole).empty()) {
      return fmt::format("{} holds the samples of a step, and no accumulation is varied with it",
                         whole);
    }
    return "";
  }

  /// `ds_config` for `configs/ds_config.json`, or more where that is taken.
  [[nodiscard]] std::string placeholder_of(const std::string& file, const Json& taken) const {
    constexpr std::size_t k_longest = 40;
    std::string name;
    for (const char letter : std::filesystem::path(file).stem().string().substr(0, k_longest))
      name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
      name.insert(0, "file_");
    }
    while (parameters_.contains(name) || taken.contains(name) || input_.machine.contains(name))
      name += "_file";
    return name;
  }

  /// Where the command names the file, as a word or behind `=`, each trial names its copy.
  static void put_placeholder(const std::string& file, const std::string& name, Json& command) {
    const std::string as_template = command_template({file})[0].get<std::string>();
    for (Json& word : command) {
      if (!word.is_string()) continue;
      auto text = word.get<std::string>();
      if (text != as_template && !text.ends_with("=" + as_template)) continue;
      text.resize(text.size() - as_template.size());
      word = fmt::format("{}{{{}}}", text, name);
    }
  }

  /// A number may be told over facts: `cpus`.
  [[nodiscard]] std::string published_default(const SpaceKnob& rule) const {
    if (rule.type != "int" || whole_number(rule.default_value)) return rule.default_value;
    return fmt::format("{:.0f}", fact_value(rule.default_value, input_.machine));
  }

  [[nodiscard]] bool tells_samples() const {
    return (input_.reading && input_.reading->samples_per_step) ||
           (input_.survey && input_.survey->samples_per_step());
  }

  /// A batch whose optimizer step accumulation holds constant does not.
  [[nodiscard]] bool changes_learning(const SpaceKnob& rule) const {
    return rule.role == "precision" || (rule.role == "batch" && !will_accumulate_);
  }

  void leave(const std::string& option, const std::string& why) {
    guess_.left.push_back(fmt::format("{}: {}", option, why));
  }

  [[nodiscard]] const ProgramOption* option_of(const std::string& name) const {
    const auto& options = input_.program.options;
    const auto exact = std::ranges::find(options, name, &ProgramOption::name);
    return exact != options.end() ? &*exact : find_option(options, plain_name(name));
  }

  /// The rule's condition over this study's parameters; empty where it is settled.
  [[nodiscard]] std::string condition_of(const SpaceKnob& rule) const {
    std::string when = rule.when;
    for (const std::string& role : document::identifiers_in(rule.when)) {
      const auto found = by_role_.find(role);
      if (found == by_role_.end()) return "";
      const std::size_t at = when.find(role);
      when.replace(at, role.size(), found->second);
    }
    return when;
  }

  [[nodiscard]] bool active_today(const std::string& when) const {
    Configuration now;
    std::vector<std::string> names;
    for (const std::string& role : document::identifiers_in(when)) {
      names.push_back(role);
      const auto found = today_by_role_.find(role);
      if (found != today_by_role_.end()) now.set(role, found->second);
    }
    const auto expression = Expression::compile(when, names, input_.machine);
    return expression && expression->holds(now);
  }

  /// An empty `value` is that of a parameter that is not active today.
  bool settle_number(const SpaceKnob& rule, const std::string& value, Json& parameter) const {
    const auto told = whole_number(value);
    if (!told && !value.empty()) return false;
    const bool known = told.has_value();
    const std::int64_t today = told.value_or(1);
    if (rule.low.empty()) {
      if (!known || today < 1) return false;
      parameter["low"] = std::max<std::int64_t>(1, today / k_smaller);
      parameter["high"] = today * k_larger;
    } else {
      double low = fact_value(rule.low, input_.machine);
      double high = fact_value(rule.high, input_.machine);
      if (!std::isfinite(low) || !std::isfinite(high)) return false;
      const bool below = known && static_cast<double>(today) < low;
      const bool above = known && static_cast<double>(today) > high;
      parameter["low"] = below ? Json(today) : bound_json(rule.low);
      parameter["high"] = above ? Json(today) : bound_json(rule.high);
      low = below ? static_cast<double>(today) : low;
      high = above ? static_cast<double>(today) : high;
      if (low >= high) return false;
    }
    const bool is_positive = today > 0 && parameter["low"] != 0;
    if (rule.scale == "log2" && is_positive) parameter["scale"] = is_power(today) ? "log2" : "log";
    return true;
  }

  /// A flag that is set by default and has no negation stays as it is; one that the command sets is
  /// left out.
  static bool settle_truth(const ProgramOption& option, const ProgramFacts::Today& today) {
    const auto truth = truth_of(today.value);
    if (!truth) return false;
    const bool may_be_left_out = today.from == "the command" || !*truth;
    return option.form != OptionForm::flag || !option.negation.empty() || may_be_left_out;
  }

  bool settle_choices(const SpaceKnob& rule, const std::string& value, Json& parameter) const {
    Json choices = Json::array();
    for (const std::string& choice : rule.choices) {
      const bool useless = precision_of(choice) == "fp16" && input_.machine.at("gpus") == 0.0;
      if (!useless || choice == value) choices.push_back(choice);
    }
    if (std::ranges::find(choices, Json(value)) == choices.end()) {
      choices.insert(choices.begin(), value);
    }
    parameter = {{"type", "categorical"}, {"choices", choices}};
    return choices.size() >= 2;
  }

  void add(const SpaceKnob& rule, const Place& place, Json parameter, const std::string& value,
           const std::string& from, bool conditional) {
    const std::string& name = rule.parameter;
    const ProgramOption& option = *place.option;
    const std::string type = text_at(parameter, "type");
    if (place.config != nullptr) {
      edits_[place.config->name][option.name] = fmt::format("{{{}}}", name);
    } else {
      add_words(name, option, type, conditional);
    }
    if (!value.empty()) {
      const Value now = type == "bool"  ? Value(truth_of(value).value_or(false))
                        : type == "int" ? Value(whole_number(value).value_or(0))
                                        : Value(value);
      baseline_[name] = to_json(now);
      today_by_role_.insert_or_assign(rule.role, now);
    }
    remember(rule, option.name, parameter, value, from);
    guess_.comments["/parameters/" + name] =
        fmt::format("{}{}{}", option.name,
                    place.config == nullptr ? std::string() : " in " + place.config->name,
                    from.empty() || value.empty() ? std::string()
                                                  : fmt::format("; {} is from {}", value, from));
    parameters_[name] = std::move(parameter);
  }

  void add_words(const std::string& name, const ProgramOption& option, const std::string& type,
                 bool conditional) {
    const auto moved = without_option(argv_, option);
    argv_ = moved;
    if (type == "bool") return add_truth(name, option);
    const std::string hole = fmt::format("{{{}}}", name);
    const std::vector<std::string> words = option_words(option, hole);
    if (conditional && words.size() > 1) {
      parts_.push_back({{"args", words}});
      return;
    }
    for (const std::string& word : words)
      parts_.push_back(word);
  }

  void add_truth(const std::string& name, const ProgramOption& option) {
    const std::vector<std::string> on = option_words(option, "true");
    const std::vector<std::string> off = option_words(option, "false");
    parts_.push_back({{"when", name}, {"args", on}});
    if (!off.empty()) parts_.push_back({{"when", fmt::format("not {}", name)}, {"args", off}});
  }

  void remember(const SpaceKnob& rule, const std::string& option, const Json& parameter,
                const std::string& value, const std::string& from) {
    by_role_.emplace(rule.role, rule.parameter);
    guess_.tuned.push_back({rule.parameter, rule.role, option, range_text(parameter), value, from});
  }

  /// Whether `variable` can be set from outside and has no parameter of this name yet.
  [[nodiscard]] bool is_free(const NativeRuntimes& runtimes, const std::string& name,
                             const std::string& variable) {
    if (parameters_.contains(name)) return false;
    if (!runtimes.set_by_command.contains(variable)) return true;
    leave(variable, "the command sets it itself");
    return false;
  }

  void add_threads(const NativeRuntimes& runtimes, const std::string& name,
                   const std::string& variable, const std::string& library) {
    if (!is_free(runtimes, name, variable)) return;
    // OpenBLAS takes OpenMP's variable where its own is not set (its README).
    std::string today = runtimes.value_of(variable);
    std::string from = "as it is set";
    if (today.empty()) {
      today = runtimes.value_of("OMP_NUM_THREADS");
      from = "as OMP_NUM_THREADS is set";
    }
    if (today.empty()) {
      today = fmt::format("{:.0f}", fact_value("cpus", input_.machine));
      from = fmt::format("{}'s default", library);
    }
    SpaceKnob rule;
    rule.parameter = name;
    rule.role = "threads";
    rule.low = "1";
    rule.high = "cpus";
    Json parameter = {{"type", "int"}};
    const auto number = whole_number(today);
    if (!number) {
      return leave(variable,
                   fmt::format("\"{}\" is not a whole number", printable_line(today, 60)));
    }
    if (!settle_number(rule, today, parameter)) {
      return leave(variable, fmt::format("{} leaves no range", today));
    }
    remember_variable(rule, variable, std::move(parameter), *number, today, from);
  }

  /// `default` leaves the variable as it is; `others` are its values by their names.
  void add_variable(const NativeRuntimes& runtimes, const std::string& name,
                    const std::string& variable, const Json& others) {
    if (!is_free(runtimes, name, variable)) return;
    SpaceKnob rule;
    rule.parameter = name;
    rule.role = "other";
    Json choices = {{"default", ""}};
    choices.update(others);
    const bool is_given = runtimes.environment.contains(variable);
    remember_variable(rule, variable, {{"type", "categorical"}, {"choices", std::move(choices)}},
                      "default", "default", is_given ? "as it is set" : "not set");
  }

  void remember_variable(const SpaceKnob& rule, const std::string& variable, Json parameter,
                         const Json& value, const std::string& today, const std::string& from) {
    const std::string& name = rule.parameter;
    environment_[variable] = fmt::format("{{{}}}", name);
    baseline_[name] = value;
    remember(rule, "", parameter, today, fmt::format("{}; {}", variable, from));
    guess_.comments["/parameters/" + name] = fmt::format("{}; {}", variable, from);
    parameters_[name] = std::move(parameter);
  }

  /// Whether all options of a setting have its values in the program as it is.
  [[nodiscard]] bool is_set_today(const KnobSetting& setting) const {
    const auto& words = setting.args;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const ProgramOption* option = option_of(words[i]);
      const auto today = option == nullptr ? std::nullopt : input_.program.today(*option);
      if (!today) return false;
      const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("-");
      if (plain_name(today->value) != plain_name(has_value ? words[++i] : "true")) return false;
    }
    return !words.empty();
  }

  /// Whether the program as it is uses the option that the setting begins with.
  [[nodiscard]] bool is_begun_today(const KnobSetting& setting) const {
    const ProgramOption* option = setting.args.empty() ? nullptr : option_of(setting.args.front());
    const auto today = option == nullptr ? std::nullopt : input_.program.today(*option);
    static const std::set<std::string> k_unused{"", "false", "none", "no", "0", "off"};
    return today && !k_unused.contains(plain_name(today->value));
  }

  void offer_settings(const SpaceKnob& rule) {
    std::vector<const KnobSetting*> there;
    const KnobSetting* today = nullptr;
    for (const KnobSetting& setting : rule.settings) {
      const bool known = setting.args.empty() || option_of(setting.args.front()) != nullptr;
      const bool is_today = is_set_today(setting);
      if (is_today) today = &setting;
      if (known && (is_today || holds_here(setting.needs, input_.machine)))
        there.push_back(&setting);
    }
    if (today == nullptr) {
      for (const KnobSetting& setting : rule.settings) {
        if (!is_begun_today(setting)) continue;
        return leave(setting.args.front(), "its current value is not a known setting");
      }
      for (const KnobSetting* setting : there) {
        if (setting->args.empty()) today = setting;
      }
    }
    if (there.size() < 2 || today == nullptr) return;
    if (changes_learning(rule) && loss_.empty()) return leave(rule.parameter, k_no_loss);
    Json choices = Json::array();
    for (const KnobSetting* setting : there) {
      choices.push_back(setting->label);
      if (setting->args.empty()) continue;
      argv_ = without_option(argv_, *option_of(setting->args.front()));
      parts_.push_back({{"when", fmt::format("{} == '{}'", rule.parameter, setting->label)},
                        {"args", command_template(setting->args)}});
    }
    const Json parameter = {{"type", "categorical"}, {"choices", choices}};
    const std::string from = today->args.empty() ? "no option set" : "the command or its defaults";
    baseline_[rule.parameter] = today->label;
    remember(rule, today->args.empty() ? "" : today->args.front(), parameter, today->label, from);
    guess_.comments["/parameters/" + rule.parameter] =
        fmt::format("{} is from {}", today->label, from);
    parameters_[rule.parameter] = parameter;
  }

  [[nodiscard]] std::string range_text(const Json& parameter) const {
    if (parameter.contains("choices")) {
      std::vector<std::string> choices;
      const Json& told = parameter["choices"];
      for (const auto& [label, choice] : told.items())
        choices.push_back(told.is_object() ? label : plain_text(choice));
      return fmt::format("{}", fmt::join(choices, "|"));
    }
    if (!parameter.contains("low")) return "false|true";
    return fmt::format("{:g}..{:g}", fact_value(plain_text(parameter["low"]), input_.machine),
                       fact_value(plain_text(parameter["high"]), input_.machine));
  }

  Json found_constraints() {
    Json constraints = Json::array();
    const auto batch = by_role_.find("batch");
    const auto accumulation = by_role_.find("accumulation");
    if (batch != by_role_.end() && accumulation != by_role_.end() &&
        baseline_.contains(batch->second) && baseline_.contains(accumulation->second)) {
      const auto product = static_cast<std::int64_t>(std::min(
          1e15,
          baseline_[batch->second].get<double>() * baseline_[accumulation->second].get<double>()));
      constraints.push_back(
          fmt::format("{} * {} == {}", batch->second, accumulation->second, product));
      guess_.comments["/constraints"] =
          "an optimizer step holds as many samples as today, so that the same is learnt";
      widen_to(batch->second, product);
      widen_to(accumulation->second, product);
    }
    const auto workers = by_role_.find("workers");
    const auto threads = by_role_.find("threads");
    if (workers != by_role_.end() && threads != by_role_.end() &&
        baseline_.contains(workers->second) && baseline_.contains(threads->second)) {
      const double today =
          baseline_[workers->second].get<double>() + baseline_[threads->second].get<double>();
      if (today <= 2.0 * input_.machine.at("cpus")) {
        constraints.push_back(fmt::format("{} + {} <= 2 * cpus", workers->second, threads->second));
      }
    }
    return constraints;
  }

  /// No value beyond the product can be part of it.
  void widen_to(const std::string& name, std::int64_t product) {
    Json& parameter = parameters_[name];
    if (parameter["low"].is_number() && parameter["high"].is_number() &&
        parameter["high"].get<std::int64_t>() > product) {
      parameter["high"] = std::max(product, parameter["low"].get<std::int64_t>() + 1);
    }
    if (!is_power(product) && parameter.value("scale", "") == "log2") parameter["scale"] = "log";
  }

  const GuessInput& input_;
  StudyGuess& guess_;
  std::vector<std::string> argv_;
  std::string loss_;
  bool will_accumulate_ = false;
  Json parts_ = Json::array();
  std::map<std::string, Json> edits_;  ///< by configuration file: values by key
  Json parameters_ = Json::object();
  Json baseline_ = Json::object();
  std::optional<Json> hooks_;
  Json environment_ = Json::object();  ///< variables, as templates
  std::map<std::string, std::string> by_role_;
  std::map<std::string, Value> today_by_role_;
  std::set<std::string> roles_of_program_;
};

/// Settings of configuration files that have no option on the command line, and one meaning.
std::vector<SpaceKnob> knobs_of_files(const ProgramFacts& program) {
  std::vector<SpaceKnob> rules;
  for (const NamedConfig& config : program.configs) {
    for (const ProgramOption& setting : config.settings) {
      const std::string plain = plain_name(setting.name);
      const std::string last = plain.substr(plain.rfind('.') + 1);
      const bool has_option =
          std::ranges::any_of(program.options, [&](const ProgramOption& option) {
            const std::string own = plain_name(option.name);
            return own == plain || own.substr(own.rfind('.') + 1) == last;
          });
      if (has_option || find_option(config.settings, last) != &setting) continue;
      if (auto rule = usual_knob(setting)) rules.push_back(*std::move(rule));
    }
  }
  return rules;
}

}  // namespace

Result<StudyGuess> guess_study(const GuessInput& input) {
  StudyGuess guess;
  Guessing guessing(input, guess);
  std::vector<SpaceKnob> rules;
  if (input.space != nullptr) {
    rules = input.space->knobs;
  } else {
    for (const ProgramOption& option : input.program.options) {
      if (auto rule = usual_knob(option)) rules.push_back(*std::move(rule));
    }
    for (SpaceKnob& rule : knobs_of_files(input.program))
      rules.push_back(std::move(rule));
    // Conditions speak of workers: those come first.
    std::ranges::stable_sort(rules, {}, [](const SpaceKnob& rule) { return !rule.when.empty(); });
    guessing.leave_batches(rules);
  }
  guessing.look_ahead(rules);
  for (const SpaceKnob& rule : rules)
    guessing.consider(rule);
  if (input.survey) {
    guessing.add_hooked(*input.survey);
  } else if (input.reading) {
    // A program that tells no progress may not even train.
    guessing.add_environment(input.runtimes);
  }
  if (guessing.empty()) {
    return fail(ErrorKind::usage,
                guess.left.empty()
                    ? std::string("no option is known that changes how fast this program trains")
                    : fmt::format("nothing can be varied:\n  {}", fmt::join(guess.left, "\n  ")),
                "", "write the study file by hand: docs/tutorial.md");
  }
  guessing.write();
  guess_goal(input, guessing.by_role(), guess);
  guess.document["budget"] = {{"trials", 40}, {"time", "30m"}};
  return guess;
}

}  // namespace steptune
