// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes_loader.hpp"

#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#include "search/searchers/bayes_module.hpp"

namespace steptune {
namespace {

template <typename Function>
Function* symbol(void* module, const char* name) {
  return reinterpret_cast<Function*>(dlsym(module, name));
}

std::string dl_reason() {
  const char* reason = dlerror();
  return reason == nullptr ? "unknown reason" : reason;
}

Result<std::unique_ptr<Searcher>> searcher_from(const std::filesystem::path& file,
                                                const SearchSpace& space,
                                                const SearcherOptions& options) {
  constexpr const char* k_reinstall = "build or install the program and its module together";
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return fail(ErrorKind::not_found, "the Bayesian searcher can not be opened: " + dl_reason(),
                file.string(),
                "install LibTorch (Debian: libtorch1.13), or use the searcher sobol");
  }
  auto* abi = symbol<BayesAbiFunction>(module, k_bayes_abi_symbol);
  auto* make = symbol<BayesMakeFunction>(module, k_bayes_make_symbol);
  if (abi == nullptr || make == nullptr) {
    return fail(ErrorKind::not_found, "is not the Bayesian searcher's module: " + dl_reason(),
                file.string(), k_reinstall);
  }
  if (const std::uint32_t version = abi(); version != k_bayes_module_abi) {
    return fail(ErrorKind::not_found,
                fmt::format("the Bayesian searcher has interface version {}, this program needs {}",
                            version, k_bayes_module_abi),
                file.string(), k_reinstall);
  }
  Error error;
  std::unique_ptr<Searcher> searcher(make(&space, &options, &error));
  if (!searcher) return tl::unexpected(std::move(error));
  return searcher;
}

}  // namespace

std::vector<std::filesystem::path> bayes_module_directories() {
  std::vector<std::filesystem::path> directories;
  if (const char* variable = std::getenv("STEPTUNE_MODULE_PATH")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::string_view directory = rest.substr(0, rest.find(':'));
      if (!directory.empty()) directories.emplace_back(directory);
      rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    }
  }
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto library = program.parent_path().parent_path() / "lib";
    directories.push_back(library);
    directories.push_back(library / "steptune");
  }
  directories.emplace_back(STEPTUNE_MODULE_DIRECTORY);
  return directories;
}

Result<std::unique_ptr<Searcher>> load_bayes_searcher(
    const std::vector<std::filesystem::path>& directories, const SearchSpace& space,
    const SearcherOptions& options) {
  std::string looked_in;
  for (const auto& directory : directories) {
    std::error_code error;
    const auto file = std::filesystem::absolute(directory, error) / k_bayes_module_file;
    if (std::filesystem::exists(file, error)) return searcher_from(file, space, options);
    looked_in += (looked_in.empty() ? "" : ", ") + directory.string();
  }
  return fail(ErrorKind::not_found,
              fmt::format("the Bayesian searcher ({}) is not installed; looked in {}",
                          k_bayes_module_file, looked_in.empty() ? "no directory" : looked_in),
              {},
              "build with LibTorch, set STEPTUNE_MODULE_PATH to the module's directory, or use the "
              "searcher sobol");
}

}  // namespace steptune
