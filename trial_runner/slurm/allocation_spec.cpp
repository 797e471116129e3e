// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocation_spec.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "common/units.hpp"

namespace steptune::slurm {
namespace {

constexpr std::string_view k_machine = "node";

/// Characters allowed in a value, besides letters and digits.
constexpr std::string_view k_other_characters = "_.:,&|*()[]@/=+%-";

std::optional<std::vector<double>> numbers_between_colons(std::string_view text) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t end = std::min(text.find(':'), text.size());
    unsigned number = 0;
    const auto read = std::from_chars(text.data(), text.data() + end, number);
    if (read.ec != std::errc{} || read.ptr != text.data() + end) return std::nullopt;
    numbers.push_back(number);
    if (end == text.size()) return numbers;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> AllocationSpec::value_of(std::string_view option) const {
  for (const std::string& word : options) {
    if (word.size() > option.size() && word.starts_with(option) && word[option.size()] == '=') {
      return word.substr(option.size() + 1);
    }
  }
  return std::nullopt;
}

std::string words_of(const AllocationSpec& requested) {
  std::string text =
      fmt::format("{} {}{}", requested.nodes, k_machine, requested.nodes == 1 ? "" : "s");
  for (const std::string& option : requested.options)
    text += " " + option;
  return text;
}

Resources to_resources(const AllocationSpec& requested) {
  Resources resources;
  resources.instance_count = requested.nodes;
  resources.instance_type = k_machine;
  for (const std::string& option : requested.options)
    resources.instance_type += " " + option;
  return resources;
}

std::optional<AllocationSpec> allocation_spec_of(const Resources& resources) {
  std::istringstream words(resources.instance_type);
  std::string word;
  if (!(words >> word) || word != k_machine || resources.instance_count < 1) return std::nullopt;
  AllocationSpec requested;
  requested.nodes = resources.instance_count;
  while (words >> word)
    requested.options.push_back(word);
  return requested;
}

bool is_option_value(std::string_view value) {
  return !value.empty() && value.front() != '-' && std::ranges::all_of(value, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           k_other_characters.find(c) != std::string_view::npos;
  });
}

std::optional<double> time_limit_s(std::string_view text) {
  double days_s = 0.0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto days = numbers_between_colons(text.substr(0, dash));
    if (!days || days->size() != 1) return std::nullopt;
    days_s = k_day_s * days->front();
    text.remove_prefix(dash + 1);
  }
  const auto parts = numbers_between_colons(text);
  if (!parts || parts->size() > 3) return std::nullopt;
  // After days, the first number is hours. Otherwise three numbers are h:m:s, two are m:s, and one
  // is minutes.
  double unit_s = dash != std::string_view::npos || parts->size() == 3 ? k_hour_s : 60.0;
  double sum_s = days_s;
  for (const double part : *parts) {
    sum_s += part * unit_s;
    unit_s /= 60.0;
  }
  return sum_s;
}

}  // namespace steptune::slurm
