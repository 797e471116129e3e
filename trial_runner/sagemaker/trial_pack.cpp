// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/trial_pack.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/shell_quote.hpp"
#include "trial_runner/sagemaker/run_pack_text.hpp"

namespace steptune {
namespace {

/// Members of ContainerArguments, and values of Environment (SageMaker API Reference).
constexpr std::size_t k_longest_word = 256;
constexpr std::size_t k_longest_value = 512;

/// The trials of a job, with `_LIST_2` and so on in the names of what does not fit; the script's
/// pieces, with `_1` and so on.
constexpr const char* k_pack_variable = "STEPTUNE_PACK";
constexpr std::string_view k_mark = "[steptune-pack] ";

constexpr std::array<std::pair<PackMark::Kind, std::string_view>, 4> k_kinds{{
    {PackMark::Kind::begin, "begin"},
    {PackMark::Kind::slow, "slow"},
    {PackMark::Kind::over, "over"},
    {PackMark::Kind::end, "end"},
}};

/// The script without what only its readers need.
std::string sent_script() {
  std::string sent;
  std::string_view text = run_pack_text();
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size() - 1));
    if (!line.starts_with('#') && line != "\n") sent += line;
  }
  return sent;
}

/// The end of the longest piece that begins at `begin`: no character is cut in two.
std::size_t end_of_piece(std::string_view text, std::size_t begin, std::size_t longest) {
  std::size_t end = std::min(begin + longest, text.size());
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  while (end > begin + 1 && continues(end))
    --end;
  return end;
}

std::vector<std::string> pieces_of(std::string_view text, std::size_t longest) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of_piece(text, begin, longest);
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

std::string list_variable(int number) {
  return number == 1 ? k_pack_variable : fmt::format("{}_LIST_{}", k_pack_variable, number);
}

template <typename Number>
bool read_whole(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Cuts off and returns what stands before `separator`, or all.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

std::optional<TrialKey> key_from_text(std::string_view text) {
  TrialKey key;
  const std::string_view trial = take_until(text, '.');
  if (!read_whole(trial, key.trial) || !read_whole(text, key.attempt)) return std::nullopt;
  return key;
}

/// `12.5 2 0.00034`, which awk reads; empty: none.
std::string text_of(const std::optional<SlowLimit>& limit, char separator) {
  if (!limit) return {};
  return fmt::format("{:.4g}{}{:.4g}{}{:.6g}", limit->after_s, separator, limit->window_s,
                     separator, limit->seconds_per_sample);
}

/// The call that runs one trial.
std::string call_of(const PackedCommand& command, const std::string& parameters) {
  const TrialSpec& spec = *command.spec;
  std::vector<std::string> words{packed_name(spec.key), fmt::format("{:.0f}", packed_seconds(spec)),
                                 fmt::format("{:.0f}", std::ceil(spec.limits.grace_s)),
                                 text_of(spec.slow_limit, ' '), parameters};
  for (const auto* variables : {&command.environment, &spec.environment}) {
    for (const auto& [name, value] : *variables)
      words.push_back(fmt::format("{}={}", name, value));
  }
  words.insert(words.end(), command.words.begin(), command.words.end());
  return "trial " + posix_quoted(words) + ";";
}

}  // namespace

double packed_seconds(const TrialSpec& spec) {
  return std::ceil(std::min(spec.enough_s, spec.limits.wall_s));
}

std::string packed_name(TrialKey key) {
  return fmt::format("{}.{}", key.trial, key.attempt);
}

Json hyperparameters_of(const Configuration& configuration) {
  Json parameters = Json::object();
  for (const auto& [name, value] : configuration.values())
    parameters[name] = to_text(value);
  return parameters;
}

PackRequest pack_request(std::span<const PackedCommand> commands) {
  PackRequest request;
  std::string listed;
  std::string calls;
  for (const PackedCommand& command : commands) {
    const TrialSpec& spec = *command.spec;
    const std::string name = packed_name(spec.key);
    std::string parameters = dump_json(hyperparameters_of(spec.configuration));
    calls += call_of(command, parameters);
    request.hyperparameters.emplace(name, std::move(parameters));
    listed += fmt::format("{}{}:{:.0f}", listed.empty() ? "" : " ", name, packed_seconds(spec));
    if (spec.slow_limit) listed += ':' + text_of(spec.slow_limit, ':');
  }
  int number = 0;
  for (std::string& piece : pieces_of(listed, k_longest_value))
    request.environment.emplace(list_variable(++number), std::move(piece));
  std::string script;
  number = 0;
  for (std::string& piece : pieces_of(sent_script(), k_longest_value)) {
    const std::string variable = fmt::format("{}_{}", k_pack_variable, ++number);
    script += fmt::format("${}", variable);
    request.environment.emplace(variable, std::move(piece));
  }
  request.words = {"/bin/sh", "-c",
                   fmt::format("c=;for w;do c=$c$w;done;eval \"{}\";eval \"$c\"", script),
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
    std::string_view told = take_until(rest, ' ');
    PackedTrial trial;
    const auto key = key_from_text(take_until(told, ':'));
    if (!key || !read_whole(take_until(told, ':'), trial.seconds)) return {};
    trial.key = *key;
    if (!told.empty()) {
      SlowLimit limit;
      if (!read_whole(take_until(told, ':'), limit.after_s) ||
          !read_whole(take_until(told, ':'), limit.window_s) ||
          !read_whole(told, limit.seconds_per_sample)) {
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
  const std::string_view word = take_until(line, ' ');
  const auto kind =
      std::ranges::find(k_kinds, word, &std::pair<PackMark::Kind, std::string_view>::second);
  if (kind == k_kinds.end()) return std::nullopt;
  PackMark mark;
  mark.kind = kind->first;
  const auto key = key_from_text(take_until(line, ' '));
  const bool has_code = mark.kind == PackMark::Kind::end;
  if (!key || (has_code ? !read_whole(line, mark.exit_code) : !line.empty())) return std::nullopt;
  mark.key = *key;
  return mark;
}

std::string pack_mark_text(const PackMark& mark) {
  const auto kind =
      std::ranges::find(k_kinds, mark.kind, &std::pair<PackMark::Kind, std::string_view>::first);
  std::string text = fmt::format("{}{} {}", k_mark, kind->second, packed_name(mark.key));
  if (mark.kind == PackMark::Kind::end) text += fmt::format(" {}", mark.exit_code);
  return text;
}

}  // namespace steptune
