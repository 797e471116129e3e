// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/stored_figures.hpp"

#include <algorithm>
#include <fstream>

#include "common/json.hpp"

namespace steptune::search_quality {

Result<std::vector<StoredFigures>> read_figures(const std::filesystem::path& file) {
  const auto json = read_json_file(file);
  if (!json) return tl::unexpected(json.error());
  std::vector<StoredFigures> figures;
  try {
    for (const Json& entry : json->at("figures")) {
      figures.push_back({entry.at("problem"), entry.at("searcher"), entry.at("trials"),
                         entry.at("results").get<std::vector<double>>()});
    }
  } catch (const Json::exception& exception) {
    return fail(ErrorKind::usage,
                std::string("these are no stored figures of search_quality: ") + exception.what(),
                file.string(), "make such a file with --store");
  }
  return figures;
}

Result<void> write_figures(const std::filesystem::path& file,
                           const std::vector<StoredFigures>& figures) {
  Json json{{"schema_version", 1}, {"figures", Json::array()}};
  for (const StoredFigures& entry : figures) {
    json["figures"].push_back({{"problem", entry.problem},
                               {"searcher", entry.searcher},
                               {"trials", entry.trials},
                               {"results", entry.results}});
  }
  std::ofstream stream(file);
  stream << dump_json(json, 1) << '\n';
  stream.close();
  if (!stream) return fail(ErrorKind::usage, "can not be written", file.string());
  return {};
}

const StoredFigures* find_figures(const std::vector<StoredFigures>& figures,
                                  const std::string& problem, const std::string& searcher,
                                  int trials) {
  const auto found = std::ranges::find_if(figures, [&](const StoredFigures& entry) {
    return entry.problem == problem && entry.searcher == searcher && entry.trials == trials;
  });
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace steptune::search_quality
