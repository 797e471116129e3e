// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/draft.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/knob_table.hpp"

namespace steptune {
namespace {

/// What shortens a part of the step that takes no longer than this is not worth its trials.
constexpr double k_least_share = 0.02;
/// Workers of a loader that are busy for longer would become what the steps wait for once the rest
/// takes a third of its time, as it may on a GPU with bf16.
constexpr double k_most_busy = 1.0 / 3.0;
/// A guard is judged once the baseline has trained for so long, or so many steps.
constexpr double k_guard_s = 5.0;
constexpr double k_guard_steps = 30.0;
constexpr double k_guard_ratio = 1.02;
constexpr const char* k_batch_size = "batch_size";
constexpr const char* k_accumulation = "gradient_accumulation";
constexpr const char* k_strategy = "distributed_strategy";
constexpr const char* k_precision = "precision";
constexpr const char* k_flush_denormal = "flush_denormal";
constexpr const char* k_guarded = "loss";
constexpr const char* k_no_guard = "a guard needs a loss above zero, and the hook found none";
constexpr const char* k_diverged =
    "a guard needs a finite loss, and the program's is NaN or infinite";
/// A batch is varied by these factors: the table knows no program.
constexpr std::int64_t k_smaller = 4;
constexpr std::int64_t k_larger = 8;
/// Of workers or batches: what a hook tells may be anything.
constexpr std::int64_t k_most_told = 10000;

/// A bound of the table on this machine.
double bound_of(const Json& bound, const Facts& facts) {
  if (bound.is_number()) return bound.get<double>();
  const auto expression = Expression::compile(bound.get<std::string>(), {}, facts);
  return expression ? expression->evaluate(Configuration{}) : std::nan("");
}

bool is_power_of_two(double value) {
  return value >= 1.0 && std::exp2(std::floor(std::log2(value))) == value;
}

/// Of a loader, what the program does by itself; nothing where it is not known.
std::optional<std::int64_t> count_today(const HookLog& log, const char* knob) {
  const auto told = log.knobs().find(knob);
  if (told == log.knobs().end() || !told->second.today.is_number_integer()) return std::nullopt;
  const auto count = told->second.today.get<std::int64_t>();
  return count >= 0 && count <= k_most_told ? std::optional(count) : std::nullopt;
}

// What PyTorch takes where nothing is said.
constexpr std::int64_t k_usual_prefetch = 2;

/// Share of the time in which the workers of the training loader are busy, about. They are sent
/// workers x prefetch batches ahead, and those that have not arrived when the program asks for the
/// next one have been under way for a step each, by Little's law; half a step more on average.
/// Nothing where there are no workers, or what waits in their queue is not known.
std::optional<double> busy_workers(const Survey& survey) {
  const auto workers = count_today(survey.log, "num_workers");
  const auto arrived = survey.last.metrics.find("loader_queue_depth");
  if (!workers || *workers == 0 || arrived == survey.last.metrics.end()) return std::nullopt;
  const auto ahead =
      *workers * count_today(survey.log, "prefetch_factor").value_or(k_usual_prefetch);
  const double under_way = std::max(0.0, static_cast<double>(ahead) - arrived->second);
  return std::min(1.0, (under_way + 0.5) / static_cast<double>(*workers));
}

/// Two digits, so that it is easy to read and to change.
double rounded(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
  return std::ceil(value / unit) * unit;
}

/// The loss of what rounds otherwise is held against the baseline's at as many samples. Nothing
/// where the hook found no loss above zero.
std::optional<Json> loss_guard(const Survey& survey) {
  const auto loss = survey.last.metrics.find(k_guarded);
  const auto step_s = survey.seconds_per_step();
  if (loss == survey.last.metrics.end() || !step_s || !(loss->second > 0.0)) return std::nullopt;
  const double steps = std::max(k_guard_s / *step_s, k_guard_steps);
  const double after = rounded(steps * survey.samples_per_step().value_or(1.0));
  return Json{{"metric", k_guarded},
              {"after_samples", static_cast<std::int64_t>(after)},
              {"max_ratio_to_baseline", k_guard_ratio}};
}

const char* why_no_guard(const Survey& survey) {
  return is_diverged(survey) ? k_diverged : k_no_guard;
}

/// The knobs of a draft, one after the other as the table has them.
class Knobs {
 public:
  Knobs(const Survey& survey, const DraftOptions& options)
      : survey_(survey),
        options_(options),
        shares_(survey.part_shares()),
        device_(text_at(survey.log.event("patched"), "device")),
        guard_(loss_guard(survey)) {}

  void consider(const Knob& knob) {
    const auto told = survey_.log.knobs().find(knob.name);
    if (told == survey_.log.knobs().end()) return;
    const KnobState& state = told->second;
    if (!state.may) return leave(knob, state.why);
    if (knob.knob_class == KnobClass::numeric) {
      if (!options_.numeric) return leave(knob, "changes rounding");
      if (!guard_) return leave(knob, fmt::format("changes rounding: {}", why_no_guard(survey_)));
    }
    if (knob.name == k_accumulation && state.today != 1) {
      return leave(knob, "the program accumulates gradients itself");
    }
    if (!knob.device.empty() && !device_.empty() && device_ != knob.device) {
      return leave(knob, fmt::format("is worth its trials on {} only", knob.device));
    }
    if (knob.knob_class == KnobClass::semantic && !options_.semantic) {
      return leave(knob, "changes the training itself; tuned with --semantic");
    }
    if (options_.live && !knob.switchable) {
      return leave(knob, "cannot be switched while a program runs; tuned without --live");
    }
    if (options_.must_go_on && !knob.may_break.empty()) {
      return leave(knob, fmt::format("may break {}; tuned before a run", knob.may_break));
    }
    if (const std::string why = why_not_worth(knob); !why.empty()) return leave(knob, why);
    offer(knob, state);
  }

  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] bool contains(const std::string& name) const { return parameters_.contains(name); }
  /// A knob was offered that may change the loss, and nothing can be held against it.
  [[nodiscard]] bool lacks_guard() const { return changes_loss_ && !guard_; }
  void write_into(Json& document, Draft& draft) && {
    document["hooks"] = {{"pytorch", std::move(rules_)}};
    document["parameters"] = std::move(parameters_);
    document["baseline"] = std::move(baseline_);
    if (changes_loss_) document["guards"] = Json::array({*std::move(guard_)});
    draft.tuned = std::move(tuned_);
    draft.left = left();
  }
  /// By reason: `pin_memory, tf32: no GPU`.
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> lines;
    for (const auto& [why, names] : left_)
      lines.push_back(fmt::format("{}: {}", fmt::join(names, ", "), why));
    return lines;
  }

 private:
  /// Why another value would bring next to nothing; empty where it may bring more.
  [[nodiscard]] std::string why_not_worth(const Knob& knob) const {
    if (knob.name == k_precision && device_ == "cpu" && !options_.cpu_computes_bfloat16) {
      return "this CPU emulates bfloat16, which is slower";
    }
    // Few programs compute with such numbers for long, and each trial would train for the guard.
    if (knob.name == k_flush_denormal && !changes_loss_) {
      return "no other knob wants the guard on the loss, whose time it is seldom worth";
    }
    if (knob.part == "host") {
      // What the program's own threads do shows only in a GPU that waits for it; within a forward
      // or backward nobody sees it wait.
      const auto idle = survey_.last.metrics.find("gpu_idle_share");
      if (idle == survey_.last.metrics.end() || idle->second >= k_least_share) return "";
      return fmt::format("between steps the GPU waits {:.1f} % of the time for the program",
                         1e2 * idle->second);
    }
    const auto share = shares_.find(knob.part);
    if (share == shares_.end() || share->second >= k_least_share) return "";
    if (knob.part == "data" && busy_workers(survey_).value_or(0.0) > k_most_busy) return "";
    return fmt::format("{} takes {:.1f} % of a step", knob.part, 1e2 * share->second);
  }

  using Left = std::pair<std::string, std::vector<std::string>>;  ///< why, and which knobs

  void leave(const Knob& knob, const std::string& why) {
    const auto same = std::ranges::find(left_, why, &Left::first);
    auto& names = same == left_.end() ? left_.emplace_back(why, std::vector<std::string>()).second
                                      : same->second;
    names.push_back(knob.name);
  }

  void offer(const Knob& knob, const KnobState& state) {
    Json parameter = knob.parameter;
    const bool active = settle_condition(parameter);
    const Json today = today_of(knob, state);
    if (!active && !parameter.contains("when")) {
      return leave(knob, "has no effect in the program as it is");
    }
    if (active && today.is_null()) return leave(knob, "what the program does is not known");
    if (knob.name == k_batch_size) narrow(parameter, today);
    if (parameter.contains("choices")) {
      if (!state.choices.empty()) parameter["choices"] = state.choices;
      const Json& choices = parameter["choices"];
      if (active && std::ranges::find(choices, today) == choices.end()) {
        return leave(knob,
                     fmt::format("is {}, which is not one of its choices", plain_text(today)));
      }
      if (choices.size() < 2) return leave(knob, "there is no choice here");
    }
    if (parameter.contains("low") && !settle_range(parameter, active ? today : Json())) {
      return leave(knob, "there is no choice here");
    }
    tuned_.push_back(fmt::format("{} {}{}", knob.name, range_text(parameter),
                                 active ? ", today " + plain_text(today) : ""));
    rules_[knob.name] = fmt::format("{{{}}}", knob.name);
    if (active) baseline_[knob.name] = today;
    if (active) today_.set(knob.name, value_from_json(today, {}).value());
    parameters_[knob.name] = std::move(parameter);
    changes_loss_ = changes_loss_ || knob.knob_class != KnobClass::safe;
  }

  /// What the program does by itself: as the hook saw it, else as the table knows it of variables
  /// that are not set.
  [[nodiscard]] Json today_of(const Knob& knob, const KnobState& state) const {
    if (!state.today.is_null() || !knob.in_environment()) return state.today;
    if (knob.parameter["type"] != "int") return knob.today;
    const double today = bound_of(knob.today, options_.facts);
    return std::isfinite(today) ? Json(static_cast<std::int64_t>(today)) : Json();
  }

  /// Whether the parameter is active in the program as it is. A condition on knobs that are not
  /// tuned is settled and goes.
  bool settle_condition(Json& parameter) const {
    if (!parameter.contains("when")) return true;
    const auto when = parameter["when"].get<std::string>();
    const auto names = document::identifiers_in(when);
    std::vector<std::string> known;
    bool are_tuned = true;
    Configuration now = today_;
    for (const Knob& knob : pytorch_knobs()) {
      known.push_back(knob.name);
      if (std::ranges::find(names, knob.name) == names.end()) continue;
      are_tuned = are_tuned && parameters_.contains(knob.name);
      const auto state = survey_.log.knobs().find(knob.name);
      if (state == survey_.log.knobs().end()) continue;
      if (auto value = value_from_json(state->second.today, {})) now.set(knob.name, *value);
    }
    const auto expression = Expression::compile(when, known, options_.facts);
    const bool active = expression && expression->holds(now);
    if (!are_tuned) parameter.erase("when");
    return active;
  }

  void narrow(Json& parameter, const Json& today) const {
    if (!parameter.contains("low") || !today.is_number_integer()) return;
    const auto now = today.get<std::int64_t>();
    parameter["low"] = std::max<std::int64_t>(1, now / k_smaller);
    parameter["high"] = now * k_larger;
    parameter["memory"] = "increases";
  }

  /// Makes room for today's value; false where the range holds one value only.
  bool settle_range(Json& parameter, const Json& today) const {
    double low = bound_of(parameter["low"], options_.facts);
    double high = bound_of(parameter["high"], options_.facts);
    if (today.is_number()) {
      const auto now = today.get<double>();
      if (now < low) parameter["low"] = today;
      if (now > high) parameter["high"] = today;
      // Zero has no place on a logarithmic scale (DDP's bucket_cap_mb=0: each gradient by itself).
      if (now <= 0.0) {
        parameter.erase("scale");
      } else if (parameter.value("scale", "") == "log2" && !is_power_of_two(now)) {
        parameter["scale"] = "log";
      }
      low = std::min(low, now);
      high = std::max(high, now);
    }
    return low < high;
  }

  [[nodiscard]] std::string range_text(const Json& parameter) const {
    if (parameter.contains("choices")) {
      std::vector<std::string> choices;
      for (const Json& choice : parameter["choices"])
        choices.push_back(plain_text(choice));
      return fmt::format("{}", fmt::join(choices, "|"));
    }
    if (!parameter.contains("low")) return "false|true";
    return fmt::format("{:g}..{:g}", bound_of(parameter["low"], options_.facts),
                       bound_of(parameter["high"], options_.facts));
  }

  const Survey& survey_;
  const DraftOptions& options_;
  std::map<std::string, double> shares_;
  std::string device_;  ///< that trains; empty where the hook does not know it
  std::optional<Json> guard_;
  Configuration today_;
  Json parameters_ = Json::object();
  Json baseline_ = Json::object();
  Json rules_ = Json::object();
  std::vector<std::string> tuned_;
  std::vector<Left> left_;
  bool changes_loss_ = false;
};

/// Batches that the training loader can have ready at most, its workers being what they are today;
/// null where that is not known.
Json buffers_today(const HookLog& log, bool tunes_prefetch) {
  const std::vector<HookedLoader> loaders = log.loaders();
  const auto training = std::ranges::count_if(
      loaders, [](const HookedLoader& loader) { return loader.training == true; });
  const auto workers = count_today(log, "num_workers");
  if (training != 1 || !workers) return nullptr;
  if (*workers > 0 && tunes_prefetch) return fmt::format("{} * prefetch_factor", *workers);
  return *workers * count_today(log, "prefetch_factor").value_or(k_usual_prefetch);
}

/// What the user says a step holds today, in proportion to what of it is tuned.
Json step_size(double samples_per_step, const Json& document) {
  std::string factors;
  for (const char* knob : {k_batch_size, k_accumulation}) {
    if (!document["parameters"].contains(knob)) continue;
    factors += fmt::format(" * {} / {}", knob, dump_json(document["baseline"][knob]));
  }
  if (factors.empty()) return samples_per_step;
  return fmt::format("{:g}{}", samples_per_step, factors);
}

}  // namespace

bool is_diverged(const Survey& survey) {
  return survey.last.not_finite.contains(k_guarded);
}

Result<Draft> draft_study(const Survey& survey, const DraftOptions& options) {
  Knobs knobs(survey, options);
  for (const Knob& knob : pytorch_knobs())
    knobs.consider(knob);
  if (knobs.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("nothing can be tuned in this program from outside:\n  {}",
                            fmt::join(knobs.left(), "\n  ")),
                "", "give the program options, and write a study file: docs/tutorial.md");
  }
  if (knobs.lacks_guard()) {
    return fail(ErrorKind::usage,
                fmt::format("--semantic changes the loss: {}", why_no_guard(survey)), "",
                "leave --semantic out, or write the study file's \"guards\" yourself: "
                "docs/study-file.md");
  }
  Draft draft;
  Json& document = draft.document;
  document["name"] = options.name;
  document["command"] = command_template(options.argv);
  const bool has_workers = knobs.contains("num_workers");
  const bool has_prefetch = knobs.contains("prefetch_factor");
  if (knobs.contains(k_accumulation) && knobs.contains(k_strategy)) {
    document["constraints"] =
        Json::array({fmt::format("{} == 1 or {} == 'none'", k_accumulation, k_strategy)});
  }
  std::move(knobs).write_into(document, draft);
  if (options.planned_samples) document["planned_run"]["samples"] = *options.planned_samples;
  // So that the result says where no trial came to the end of an epoch, and what it costs else.
  if (options.epoch_samples) {
    document["planned_run"]["phases"]["epoch_end"]["every_samples"] = *options.epoch_samples;
  }
  if (options.samples_per_step) {
    document["planned_run"]["batch_size"] = step_size(*options.samples_per_step, document);
  }
  if (has_workers) {
    document["measure"]["buffers"] =
        has_prefetch ? "num_workers * prefetch_factor" : "2 * num_workers";
  } else if (Json buffers = buffers_today(survey.log, has_prefetch); !buffers.is_null()) {
    document["measure"]["buffers"] = std::move(buffers);
  }
  // Of these knobs an experienced engineer has an idea.
  document["search"]["first_guesses"] = true;
  document["trials"] = options.live ? "live" : "forked";
  document["budget"] = {{"trials", 40}, {"time", "30m"}};
  return draft;
}

Json command_template(const std::vector<std::string>& argv) {
  Json command = Json::array();
  for (const std::string& word : argv) {
    std::string text;
    for (const char letter : word)
      text += letter == '{' ? std::string("{{") : std::string(1, letter);
    command.push_back(std::move(text));
  }
  return command;
}

std::string study_name_of(const std::vector<std::string>& argv) {
  constexpr std::size_t k_longest = 50;
  std::string name = argv.empty() ? "study" : std::filesystem::path(argv.front()).stem().string();
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i].ends_with(".py")) {
      name = std::filesystem::path(argv[i]).stem().string();
      break;
    }
    if (argv[i] == "-m" && i + 1 < argv.size()) {
      name = argv[i + 1].substr(argv[i + 1].rfind('.') + 1);
      // Launchers such as `-m torch.distributed.run` start the script that follows.
      if (name != "run" && name != "launch") break;
    }
  }
  for (char& letter : name) {
    const bool fits = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
    if (!fits) letter = '-';
  }
  name.resize(std::min(name.size(), k_longest));
  if (!document::is_study_name(name)) name = "study" + name;
  return name;
}

}  // namespace steptune
