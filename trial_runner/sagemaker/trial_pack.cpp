// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/trial_pack.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/shell_quote.hpp"
#include "trial_runner/hooks/python_path.hpp"
#include "trial_runner/sagemaker/request_pieces.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/sagemaker/shell_texts.hpp"
#include "trial_runner/trial_name.hpp"

namespace steptune {
namespace {

/// Variable with the job's trials. Further trials are in variables with the suffixes `_LIST_2` and
/// so on; the pieces of the script are in those with `_1` and so on.
constexpr const char* k_pack_variable = "STEPTUNE_PACK";
constexpr std::string_view k_mark = "[steptune-pack] ";

constexpr auto k_kinds = enum_names<PackMark::Kind>({
    {PackMark::Kind::begin, "begin"},
    {PackMark::Kind::slow, "slow"},
    {PackMark::Kind::idle, "idle"},
    {PackMark::Kind::over, "over"},
    {PackMark::Kind::end, "end"},
});

std::string list_variable(int number) {
  return number == 1 ? k_pack_variable : fmt::format("{}_LIST_{}", k_pack_variable, number);
}

template <typename Number>
bool read_whole(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Removes and returns the text before `separator`, or the whole text if there is no separator.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

/// Formats a limit for awk as `12.5 2 0.00034` (`after_s`, `window_s`, `seconds_per_sample`); empty
/// without a limit.
std::string text_of(const std::optional<SlowLimit>& limit, char separator) {
  if (!limit) return {};
  return fmt::format("{:.4g}{}{:.4g}{}{:.6g}", limit->after_s, separator, limit->window_s,
                     separator, limit->seconds_per_sample);
}

/// Formats seconds as `600`; empty without a limit.
std::string text_of(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.0f}", *seconds) : std::string();
}

/// Returns the shell call that runs one trial.
std::string call_of(const TrialSpec& spec, bool in_code_channel, const std::string& parameters) {
  const ContainerStart entry =
      entry_point(spec.argv, in_code_channel, spec.launch, /*enters_hook=*/false, spec.files);
  std::vector<std::string> words{trial_name(spec.key),
                                 fmt::format("{:.0f}", packed_seconds(spec)),
                                 fmt::format("{:.0f}", std::ceil(spec.limits.grace_s)),
                                 text_of(spec.slow_limit, ' '),
                                 text_of(packed_idle_seconds(spec)),
                                 parameters};
  std::string call = "trial " + posix_quoted(words);
  words.clear();
  for (const auto* variables : {&entry.environment, &spec.environment}) {
    for (const auto& [name, value] : *variables) {
      if (!spec.python_path.empty() && name == k_python_path) {
        call += fmt::format(" {}=\"$steptune_hook\":{}", name, posix_quoted(value));
      } else {
        words.push_back(fmt::format("{}={}", name, value));
      }
    }
  }
  words.insert(words.end(), entry.words.begin(), entry.words.end());
  return fmt::format("{} {};", call, posix_quoted(words));
}

}  // namespace

double packed_seconds(const TrialSpec& spec) {
  return std::ceil(std::min(spec.time_to_measure_s, spec.limits.wall_s));
}

std::optional<double> packed_idle_seconds(const TrialSpec& spec) {
  const double idle_s = std::ceil(spec.limits.idle_s);
  return idle_s < packed_seconds(spec) ? std::optional(idle_s) : std::nullopt;
}

ContainerStart pack_start(std::span<const TrialSpec* const> trials, bool in_code_channel) {
  ContainerStart request;
  const bool has_hook =
      std::ranges::any_of(trials, [](const TrialSpec* spec) { return !spec->python_path.empty(); });
  std::string listed;
  std::string calls;
  for (const TrialSpec* trial : trials) {
    const TrialSpec& spec = *trial;
    const std::string name = trial_name(spec.key);
    std::string parameters = dump_json(Json(hyperparameters_of(spec.configuration)));
    calls += call_of(spec, in_code_channel, parameters);
    request.hyperparameters.emplace(name, std::move(parameters));
    listed += fmt::format("{}{}:{:.0f}", listed.empty() ? "" : " ", name, packed_seconds(spec));
    if (const auto idle_s = packed_idle_seconds(spec)) listed += '/' + text_of(idle_s);
    if (spec.slow_limit) listed += ':' + text_of(spec.slow_limit, ':');
  }
  int number = 0;
  for (std::string& piece : pieces_of(listed, k_longest_variable))
    request.environment.emplace(list_variable(++number), std::move(piece));
  const std::string script =
      put_script(without_comments(run_pack_text()), k_pack_variable, request.environment);
  request.words = {
      "/bin/sh", "-c",
      fmt::format("c=;for w;do c=$c$w;done;{}{};eval \"$c\"", has_hook ? k_enter_hook : "", script),
      "steptune"};
  for (std::string& piece : pieces_of(calls, k_longest_word))
    request.words.push_back(std::move(piece));
  return request;
}

std::vector<PackedTrial> pack_of(const Json& environment) {
  std::vector<PackedTrial> trials;
  std::string text;
  for (int number = 1;; ++number) {
    const auto piece = environment.find(list_variable(number));
    if (piece == environment.end() || !piece->is_string()) break;
    text += piece->get<std::string>();
  }
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view entry = take_until(rest, ' ');
    PackedTrial trial;
    const auto key = trial_key_from_name(take_until(entry, ':'));
    std::string_view seconds = take_until(entry, ':');
    if (!key || !read_whole(take_until(seconds, '/'), trial.seconds)) return {};
    if (!seconds.empty() && !read_whole(seconds, trial.idle_s.emplace())) return {};
    trial.key = *key;
    if (!entry.empty()) {
      SlowLimit limit;
      if (!read_whole(take_until(entry, ':'), limit.after_s) ||
          !read_whole(take_until(entry, ':'), limit.window_s) ||
          !read_whole(entry, limit.seconds_per_sample)) {
        return {};
      }
      trial.slow_limit = limit;
    }
    trials.push_back(trial);
  }
  return trials;
}

std::optional<PackMark> read_pack_mark(std::string_view line) {
  if (!line.starts_with(k_mark)) return std::nullopt;
  line.remove_prefix(k_mark.size());
  const auto kind = k_kinds.value_of(take_until(line, ' '));
  if (!kind) return std::nullopt;
  PackMark mark;
  mark.kind = *kind;
  const auto key = trial_key_from_name(take_until(line, ' '));
  const bool has_code = mark.kind == PackMark::Kind::end;
  if (!key || (has_code ? !read_whole(line, mark.exit_code) : !line.empty())) return std::nullopt;
  mark.key = *key;
  return mark;
}

std::string pack_mark_text(const PackMark& mark) {
  std::string text =
      fmt::format("{}{} {}", k_mark, k_kinds.name_of(mark.kind), trial_name(mark.key));
  if (mark.kind == PackMark::Kind::end) text += fmt::format(" {}", mark.exit_code);
  return text;
}

}  // namespace steptune
