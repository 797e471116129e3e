// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/machine_text.hpp"

#include <string_view>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

struct FigureText {
  std::string_view what;
  std::string_view of{};  ///< the total, if the figure is a share: ` of the time`
};

FigureText text_of(std::string_view figure) {
  constexpr std::string_view k_time = " of the time";
  if (figure == "other_load") return {"the CPU share of other programs"};
  if (figure == "steal") return {"the CPU share of the hypervisor"};
  if (figure == "memory_pressure") return {"waiting for memory", k_time};
  if (figure == "storage_pressure") return {"waiting for storage", k_time};
  if (figure == "quota_wait") return {"waiting for the CPU quota", k_time};
  if (figure == "cpu_clock_hz") return {"the CPUs' clock"};
  return {"the GPUs' clock"};
}

}  // namespace

std::string machine_text(const MachineFigureChange& change) {
  const FigureText text = text_of(change.figure);
  const auto value = [&](double of) {
    return change.figure.ends_with("_hz") ? format_ghz(of) : format_percent(of);
  };
  return fmt::format("{} {} from {} to {}{}", text.what,
                     change.after < change.before ? "fell" : "rose", value(change.before),
                     value(change.after), text.of);
}

}  // namespace steptune
