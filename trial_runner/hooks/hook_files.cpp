// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/hooks/hook_files.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include <openssl/evp.h>
#include <zlib.h>

#include "common/json.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "trial_runner/hooks/python_hook.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

std::string compressed(const std::string& text) {
  std::string bytes(compressBound(text.size()), '\0');
  uLongf size = bytes.size();
  const int done =
      compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_COMPRESSION);
  // The buffer is large enough for the worst case, so only missing memory can make it fail.
  if (done != Z_OK) throw std::runtime_error("zlib cannot compress");
  bytes.resize(size);
  return bytes;
}

std::string in_base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL ends it with a NUL
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

bool is_shipped(const fs::path& file) {
  return file.extension() == ".py" || file.extension() == ".json";
}

/// Returns the folders of the families that the hook's request leaves out.
std::set<fs::path> unused_folders(const std::map<std::string, std::string>& variables) {
  const auto variable = variables.find(k_python_hook_variable);
  if (variable == variables.end()) return {};
  const auto request = parse_json(variable->second, k_python_hook_variable);
  const auto used =
      request ? request->value("families", std::set<std::string>()) : std::set<std::string>();
  std::set<fs::path> folders;
  if (used.empty()) return folders;
  for (const std::string& family : python_families()) {
    if (!used.contains(family)) folders.insert(fs::path("steptune_hook") / family);
  }
  return folders;
}

}  // namespace

Result<HookFiles> read_hook_files(const fs::path& folder,
                                  const std::map<std::string, std::string>& variables) {
  const std::set<fs::path> unused = unused_folders(variables);
  HookFiles files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const fs::path place = at->path().lexically_relative(folder);
    if (unused.contains(place)) at.disable_recursion_pending();
    if (!is_shipped(place) || !at->is_regular_file(error)) continue;
    std::ifstream stream(at->path(), std::ios::binary);
    if (!stream) {
      return fail(ErrorKind::runner, "cannot read a file of the hook", at->path().string());
    }
    files.emplace(place.generic_string(), std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  if (error || files.empty()) {
    return fail(ErrorKind::runner,
                "cannot read the hook's files" + (error ? ": " + error.message() : ""),
                folder.string(), "its installation is incomplete: install Steptune again");
  }
  return files;
}

std::string packed_text(const HookFiles& files) {
  Json json = Json::object();
  for (const auto& [path, text] : files)
    json[path] = text;
  return in_base64(compressed(dump_json(json)));
}

}  // namespace steptune
