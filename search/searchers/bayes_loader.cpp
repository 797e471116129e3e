// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes_loader.hpp"

#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "common/environment.hpp"
#include "common/shipped_files.hpp"

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

}  // namespace

std::vector<std::filesystem::path> bayes_module_directories() {
  std::vector<std::filesystem::path> directories =
      directory_list(process_environment(), "STEPTUNE_MODULE_PATH");
  for (auto& shipped : shipped_directories(ShippedKind::module))
    directories.push_back(std::move(shipped));
  return directories;
}

Result<std::filesystem::path> find_bayes_module(
    const std::vector<std::filesystem::path>& directories) {
  if (const auto file = find_file(directories, k_bayes_module_file)) {
    // A relative name without a slash would make the dynamic linker search its own directories.
    std::error_code error;
    return std::filesystem::absolute(*file, error);
  }
  return fail(ErrorKind::not_found,
              fmt::format("the Bayesian searcher ({}) is not installed; looked in {}",
                          k_bayes_module_file, directories_text(directories)),
              {},
              "build with LibTorch, set STEPTUNE_MODULE_PATH to the module's directory, or use the "
              "searcher sobol");
}

Result<BayesMakeFunction*> open_bayes_module(const std::filesystem::path& file) {
  constexpr const char* k_reinstall = "build or install the program and its module together";
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return fail(ErrorKind::not_found, "the Bayesian searcher cannot be opened: " + dl_reason(),
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
  return make;
}

Result<std::unique_ptr<Searcher>> make_bayes_searcher(BayesMakeFunction* make,
                                                      const SearchSpace& space,
                                                      const SearcherOptions& options) {
  Error error;
  std::unique_ptr<Searcher> searcher(make(&space, &options, &error));
  if (!searcher) return tl::unexpected(std::move(error));
  return searcher;
}

Result<std::unique_ptr<Searcher>> load_bayes_searcher(
    const std::vector<std::filesystem::path>& directories, const SearchSpace& space,
    const SearcherOptions& options) {
  const auto module = find_bayes_module(directories);
  if (!module) return tl::unexpected(module.error());
  const auto make = open_bayes_module(*module);
  if (!make) return tl::unexpected(make.error());
  return make_bayes_searcher(*make, space, options);
}

}  // namespace steptune
