// SPDX-License-Identifier: Apache-2.0
#include "common/document/fault.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune::document {
namespace {

/// Largest number of faults that an error describes, about one screen. For further faults, the
/// error gives only their number.
constexpr std::size_t k_max_faults = 20;

std::string place(const std::string& file, const std::string& pointer, const SourceLines& lines) {
  const auto line = lines.line_of(pointer);
  return line ? fmt::format("{}#{} (line {})", file, pointer, *line)
              : fmt::format("{}#{}", file, pointer);
}

}  // namespace

void Faults::add(std::string pointer, const std::string& message) {
  if (kept_.size() == k_max_faults) {
    dropped_.push_back(std::move(pointer));
    return;
  }
  // The message may quote anything that is in the file, so make it one printable line.
  kept_.push_back({std::move(pointer), printable_line(message, 2000)});
}

bool Faults::within(const std::string& pointer) const {
  const auto is_within = [&](const std::string& each) {
    return each.starts_with(pointer) &&
           (each.size() == pointer.size() || each[pointer.size()] == '/');
  };
  return std::ranges::any_of(kept_, is_within, &Fault::pointer) ||
         std::ranges::any_of(dropped_, is_within);
}

Error Faults::to_error(const std::filesystem::path& file, const SourceLines& lines) const {
  const std::string name = file.string();
  if (kept_.size() == 1 && dropped_.empty()) {
    return {ErrorKind::usage, kept_.front().message, place(name, kept_.front().pointer, lines), {}};
  }
  std::string message = fmt::format("{} faults", kept_.size() + dropped_.size());
  for (const Fault& fault : kept_) {
    message += fmt::format("\n  {}: {}", place(name, fault.pointer, lines), fault.message);
  }
  if (!dropped_.empty()) message += fmt::format("\n  and {} more", dropped_.size());
  return {ErrorKind::usage, std::move(message), name, {}};
}

std::string with_hint(const Error& error) {
  return error.hint.empty() ? error.message : error.message + "; " + error.hint;
}

std::string pointer_token(const std::string& key) {
  std::string token;
  for (const char c : printable_line(key, 100)) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

}  // namespace steptune::document
