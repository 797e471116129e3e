// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/installation.hpp"

#include <SQLiteCpp/Database.h>
#include <dlfcn.h>
#include <link.h>

#include "common/shipped_files.hpp"
#include "search/searchers/bayes_loader.hpp"
#include "search/searchers/bayes_module.hpp"

namespace steptune {

std::string sqlite_version() {
  return SQLite::getLibVersion();
}

std::optional<std::filesystem::path> find_bayes_module() {
  const auto file = find_file(bayes_module_directories(), k_bayes_module_file);
  if (!file) return std::nullopt;
  std::error_code fault;
  const auto path = std::filesystem::canonical(*file, fault);
  return fault ? *file : path;
}

std::optional<std::filesystem::path> resolve_library(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  const link_map* map = nullptr;
  std::optional<std::filesystem::path> path;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr) {
    std::error_code fault;
    path = std::filesystem::canonical(map->l_name, fault);
    if (fault) path = map->l_name;
  }
  dlclose(library);
  return path;
}

}  // namespace steptune
