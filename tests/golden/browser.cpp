// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/browser.hpp"

#include <cstdlib>
#include <filesystem>

namespace steptune::golden {
namespace {

constexpr const char* k_browser = "/usr/bin/chromium";

}  // namespace

bool has_browser() {
  return std::filesystem::exists(k_browser) || std::getenv("STEPTUNE_NEEDS_BROWSER") != nullptr;
}

Ended document_in_browser(const Sandbox& sandbox, const std::string& address) {
  const std::string folder = sandbox.folder().string();
  return sandbox.program(
      {"timeout", "120", k_browser, "--headless=new", "--no-sandbox", "--disable-gpu",
       "--user-data-dir=" + folder + "/browser", "--enable-logging=stderr",
       "--window-size=1200,900", "--dump-dom", "--allow-file-access-from-files", address},
      {.environment = {{"HOME", folder}}});
}

}  // namespace steptune::golden
