// SPDX-License-Identifier: Apache-2.0
#include "common/enum_names.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune {
namespace {

constexpr auto k_ends = enum_names<LoopEnd>({
    {LoopEnd::budget, "budget"},
    {LoopEnd::exhausted, "exhausted"},
    {LoopEnd::payback, "payback"},
    {LoopEnd::interrupted, "interrupted"},
    {LoopEnd::too_many_failures, "too_many_failures"},
    {LoopEnd::no_feasible_trial, "no_feasible_trial"},
    {LoopEnd::nothing_faster, "nothing_faster"},
    {LoopEnd::nothing_to_gain, "nothing_to_gain"},
});

}  // namespace

std::string to_text(LoopEnd end) {
  return std::string(k_ends.name_of(end));
}

std::optional<LoopEnd> loop_end_from_text(std::string_view text) {
  return k_ends.value_of(text);
}

bool is_to_be_continued(LoopEnd end) {
  return end == LoopEnd::interrupted || end == LoopEnd::too_many_failures;
}

bool has_last_look(LoopEnd end) {
  return !is_to_be_continued(end) && end != LoopEnd::nothing_to_gain;
}

}  // namespace steptune
