// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/model_files.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Returns the folder of a model in the cache of Hugging Face's hub: `models--ORG--NAME` has a
/// folder for each snapshot. Empty if no snapshot has a configuration.
fs::path cached_model(const fs::path& cache, std::string model) {
  for (std::size_t at = model.find('/'); at != std::string::npos; at = model.find('/', at + 2))
    model.replace(at, 1, "--");
  std::error_code error;
  std::set<fs::path> snapshots;
  for (const auto& entry :
       fs::directory_iterator(cache / ("models--" + model) / "snapshots", error)) {
    if (fs::exists(entry.path() / "config.json", error)) snapshots.insert(entry.path());
  }
  return snapshots.empty() ? fs::path() : *snapshots.begin();
}

/// Returns paths at which the model's file may be.
std::vector<fs::path> places_of(const std::string& file, const std::string& model,
                                const GuessInput& input) {
  std::vector<fs::path> places{file};
  for (const NamedConfig& config : input.program.configs)
    places.push_back(fs::path(config.name).parent_path() / file);
  if (!input.model_cache.empty()) {
    const fs::path cached = cached_model(input.model_cache, model);
    if (!cached.empty()) places.push_back(cached / fs::path(file).filename());
  }
  return places;
}

}  // namespace

fs::path hub_cache(const Environment& environment) {
  if (const auto folder = environment("HF_HUB_CACHE")) return *folder;
  if (const auto folder = environment("HF_HOME")) return fs::path(*folder) / "hub";
  const auto home = home_directory(environment);
  return home ? *home / ".cache" / "huggingface" / "hub" : fs::path();
}

NamedModel named_model(const GuessInput& input) {
  NamedModel found;
  for (const std::string& pattern : input.space->models) {
    const std::size_t open = pattern.find('{');
    const std::size_t close = pattern.find('}');
    if (open == std::string::npos || close == std::string::npos) continue;
    const auto model = input.program.stated(pattern.substr(open + 1, close - open - 1));
    if (!model || is_left_to_program(model->value)) continue;
    found.is_named = true;
    const std::string file = pattern.substr(0, open) + model->value + pattern.substr(close + 1);
    for (const fs::path& place : places_of(file, model->value, input)) {
      found.config = read_config(place.string(), input.folder);
      if (found.config) return found;
    }
  }
  return found;
}

}  // namespace steptune
