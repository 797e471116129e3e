// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "common/json_fields.hpp"
#include "tests/fuzz/targets.hpp"
#include "tuner/config_edit/config_edit.hpp"

namespace steptune::fuzz {
namespace {

constexpr std::size_t k_most_edits = 8;

void check_places(ConfigFormat format, const std::vector<ConfigScalar>& scalars,
                  std::string_view text) {
  std::size_t before = 0;
  for (const ConfigScalar& scalar : scalars) {
    require(scalar.begin <= scalar.end && scalar.end <= text.size(), "a value beyond the text");
    require(scalar.begin >= before, "values that overlap, or out of order");
    // A YAML file may hold several documents, and each may be one value.
    require(!scalar.path.empty() || scalars.size() == 1 || format == ConfigFormat::yaml,
            "a value without a name among others");
    before = scalar.end;
  }
}

/// Checks that the edited value is read back, and that all others are unchanged.
void check_edit(ConfigFormat format, std::string_view text,
                const std::vector<ConfigScalar>& scalars, std::size_t edited, const Value& value) {
  Configuration wanted;
  wanted.set("p", value);
  const auto changes =
      config_changes(format, text, wanted, {{"p", scalars[edited].key()}}, "fuzzed");
  if (!changes || changes->empty()) return;
  const auto after = scan_config(format, edited_text(text, edits_of(*changes)), "fuzzed");
  require(after && after->size() == scalars.size(), "an edit that loses or adds values");
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const bool is_edited = scalars[i].begin == changes->front().edit.begin;
    const Json expected = is_edited ? to_json(changes->front().after) : scalars[i].value;
    require((*after)[i].path == scalars[i].path, "an edit that moves values");
    require((*after)[i].value == expected, "an edit that is not read back");
  }
}

}  // namespace

void run_config_file(std::string_view input) {
  static const std::map<std::string_view, ConfigFormat> k_formats{{"json", ConfigFormat::json},
                                                                  {"yaml", ConfigFormat::yaml},
                                                                  {"toml", ConfigFormat::toml},
                                                                  {"ini", ConfigFormat::ini}};
  const auto [name, text] = split_at_mark(input);
  const auto format = k_formats.find(name);
  if (format == k_formats.end()) return;
  const auto scalars = scan_config(format->second, text, "fuzzed");
  if (!scalars) {
    require(!scalars.error().where.empty(), "an error without its place");
    return;
  }
  check_places(format->second, *scalars, text);
  for (std::size_t i = 0; i < scalars->size() && i < k_most_edits; ++i) {
    check_edit(format->second, text, *scalars, i, std::int64_t{7});
    check_edit(format->second, text, *scalars, i, std::string("bf16 # 'x\""));
    check_edit(format->second, text, *scalars, i, 1e-5);
    check_edit(format->second, text, *scalars, i, true);
  }
}

}  // namespace steptune::fuzz
