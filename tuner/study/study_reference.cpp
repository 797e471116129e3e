// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/study_reference.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "trial_runner/runner_kinds.hpp"
#include "tuner/study/parameter_keys.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/study/study_format.hpp"

namespace steptune::study {
namespace {

using document::KeyRow;
using document::KeyTable;

/// Returns the keys of all kinds of parameters, each once.
KeyTable parameter_table() {
  KeyTable table{"parameter", {}};
  for (const Section<DeclaredParameter>* section : parameter_sections()) {
    for (KeyRow& row : section->table().rows) {
      if (std::ranges::find(table.rows, row.key, &KeyRow::key) == table.rows.end()) {
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

}  // namespace

Json study_schema() {
  Json definitions = Json::object();
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "Steptune study"}};
  schema.update(study_format().definition(definitions));
  schema["$defs"] = std::move(definitions);
  return schema;
}

std::vector<KeyTable> key_tables() {
  std::vector<KeyTable> tables = {
      study_format().table(),        config_file_section().table(),   launch_section().table(),
      hooks_section().table(),       facts_section().table(),         parameter_table(),
      planned_run_section().table(), planned_phase_section().table(), guard_section().table(),
      search_section().table(),      budget_section().table(),        measure_section().table(),
      campaign_section().table(),    reports_section().table(),       limits_section().table()};
  for (const RunnerKind* kind : runner_kinds()) {
    for (KeyTable& table : kind->tables())
      tables.push_back(std::move(table));
  }
  return tables;
}

std::string with_key_tables(const std::string& text) {
  constexpr std::string_view k_begin = "<!-- keys of ";
  constexpr std::string_view k_name_end = " -->\n";
  constexpr std::string_view k_end = "<!-- end of keys -->";
  const std::vector<KeyTable> tables = key_tables();
  std::string result;
  std::size_t at = 0;
  for (auto begin = text.find(k_begin); begin != std::string::npos;
       begin = text.find(k_begin, at)) {
    const auto name_at = begin + k_begin.size();
    const auto name_end = text.find(k_name_end, name_at);
    const auto end = text.find(k_end, name_at);
    const std::string name = text.substr(name_at, std::min(name_end, end) - name_at);
    const auto table = std::ranges::find(tables, name, &KeyTable::name);
    if (table == tables.end() || name_end == std::string::npos || end == std::string::npos) {
      throw std::invalid_argument("no table, or no end of one: " + name);
    }
    result += text.substr(at, name_end + k_name_end.size() - at) + table->markdown();
    at = end;
  }
  return result + text.substr(at);
}

}  // namespace steptune::study
