// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/child_process.hpp"
#include "common/sha256.hpp"
#include "common/text.hpp"
#include "tuner/cli/bisected_versions.hpp"
#include "tuner/cli/child_command.hpp"
#include "tuner/cli/judged_versions.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/history/lock_file.hpp"
#include "tuner/survey/interpreter_versions.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Prints what an environment depends on: the interpreter, and its folders of packages.
constexpr const char* k_describe_python =
    "import sys, sysconfig\n"
    "print(sys.executable, sys.version, sysconfig.get_path('purelib'), sep='\\n')\n";

/// Creates a virtual environment in the folder `argv[1]`, without pip. It sees the packages of the
/// interpreter that runs this program, also if that one is in a virtual environment itself.
constexpr const char* k_create_environment =
    "import pathlib, sys, sysconfig, venv\n"
    "folder = sys.argv[1]\n"
    "venv.create(folder, system_site_packages=True, clear=True, symlinks=True)\n"
    "if sys.prefix != sys.base_prefix:\n"
    "    outer = {sysconfig.get_path(name) for name in ('purelib', 'platlib')}\n"
    "    for own in pathlib.Path(folder).glob('lib/python*/site-packages'):\n"
    "        (own / 'outer.pth').write_text('\\n'.join(sorted(outer)) + '\\n')\n";

/// Written into an environment when its package is installed.
constexpr const char* k_installed_mark = "steptune-installed";

constexpr const char* k_writable_cache = "set XDG_CACHE_HOME to a writable folder";

bool is_word_of(std::string_view text, std::string_view others) {
  const auto is_alnum = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !text.empty() && is_alnum(text.front()) && std::ranges::all_of(text, [&](char c) {
    return is_alnum(c) || others.find(c) != std::string_view::npos;
  });
}

/// Returns the folder of the virtual environments.
fs::path environments_folder(const PackageRequest& request, const Environment& environment) {
  fs::path cache = request.folder_without_cache;
  if (const auto named = environment("XDG_CACHE_HOME"); named && named->starts_with('/')) {
    cache = fs::path(*named) / "steptune";
  } else if (const auto home = home_directory(environment)) {
    cache = *home / ".cache" / "steptune";
  }
  return cache / "environments";
}

Result<void> check_names(const PackageRequest& request) {
  if (!is_word_of(request.package, "-_.")) {
    return fail(ErrorKind::usage,
                fmt::format("{} is not a package's name", printable_line(request.package, 80)),
                "--package", "give the name alone, such as torch");
  }
  if (request.versions.size() < 2) {
    return fail(ErrorKind::usage, "give at least two versions", "--package",
                "for example: steptune bisect --package torch 2.4.0 2.5.0 -- python3 train.py");
  }
  for (const std::string& version : request.versions) {
    if (is_word_of(version, ".+!-_")) continue;
    return fail(ErrorKind::usage, fmt::format("{} is not a version", printable_line(version, 80)),
                "--package", "give versions such as 2.4.0");
  }
  return {};
}

/// Installs versions of a package.
class PackageInstaller {
 public:
  PackageInstaller(PackageRequest request, fs::path folder, std::string python, std::string id,
                   std::string path)
      : request_(std::move(request)),
        folder_(std::move(folder)),
        python_(std::move(python)),
        id_(std::move(id)),
        path_(std::move(path)) {}

  [[nodiscard]] std::vector<std::string> command(const std::string& version) const {
    const fs::path folder = environment_of(version);
    std::vector<std::string> words = in_venv(request_.command, folder, path_);
    // An interpreter that the command names by a path would ignore the environment, so replace it.
    // A program without a path is found in the environment's PATH.
    const auto program = words.end() - std::ssize(request_.command);
    const auto is_path = [](const std::string& word) { return word.find('/') != word.npos; };
    if (!is_path(*program) || !is_path(python_)) return words;
    std::string own = (folder / "bin" / "python3").string();
    if (*program == python_) {
      *program = std::move(own);
    } else {
      // The program is a script whose first line names the interpreter.
      *program = found_program(*program, fs::current_path(), path_).string();
      words.insert(program, std::move(own));
    }
    return words;
  }

  /// Installs the version, unless an earlier bisection has installed it. Waits while another
  /// process installs it.
  [[nodiscard]] Result<ReadyVersion> make_ready(const std::string& version) const {
    const fs::path folder = environment_of(version);
    const auto lock = LockFile::wait_for(folder.string() + ".lock");
    if (!lock) {
      return fail(ErrorKind::store, lock.error().message, lock.error().where, k_writable_cache);
    }
    std::error_code error;
    if (fs::exists(folder / k_installed_mark, error)) return ReadyVersion();
    if (auto installed = install(version, folder); !installed)
      return tl::unexpected(installed.error());
    return ReadyVersion();
  }

 private:
  [[nodiscard]] fs::path environment_of(const std::string& version) const {
    return folder_ / fmt::format("{}-{}-{}", request_.package, version, id_);
  }

  Result<void> install(const std::string& version, const fs::path& folder) const {
    const std::string wanted = fmt::format("{}=={}", request_.package, version);
    const auto failed = [&](const char* what) {
      return fail(ErrorKind::usage, fmt::format("{} {}", what, wanted), "--package",
                  "the output is above");
    };
    if (!run({python_, "-c", k_create_environment, folder.string()}))
      return failed("no virtual environment can be made for");
    const std::string python = (folder / "bin" / "python3").string();
    if (!run({python, "-c", "import pip"}) && !run({python, "-m", "ensurepip"}))
      return failed("without pip, steptune cannot install");
    std::vector<std::string> words{python,       "-m",     "pip", "--disable-pip-version-check",
                                   "--no-input", "install"};
    if (request_.quiet) words.emplace_back("--quiet");
    words.push_back(wanted);
    if (!run(words)) return failed("pip cannot install");
    return write_whole_file(folder / k_installed_mark, wanted + "\n");
  }

  /// Runs a program with its output on stderr. Returns true if it succeeds.
  static bool run(const std::vector<std::string>& argv) {
    std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\" >&2", "sh"};
    words.insert(words.end(), argv.begin(), argv.end());
    return run_to_end(std::move(words), {}, k_own_stream).has_value();
  }

  PackageRequest request_;
  fs::path folder_;  ///< folder of all environments
  std::string python_;
  std::string id_;    ///< identifies the interpreter and its folder of packages
  std::string path_;  ///< PATH of this program
};

}  // namespace

Result<BisectedVersions> package_versions(const PackageRequest& request,
                                          const Environment& environment) {
  if (auto checked = check_names(request); !checked) return tl::unexpected(checked.error());
  const std::string path = environment("PATH").value_or("/usr/bin:/bin");
  std::string python = python_of(request.command, fs::current_path(), path);
  if (python.empty()) python = "python3";
  const auto described = run_to_end({python, "-c", k_describe_python}, {}, k_own_stream);
  if (!described) {
    return fail(ErrorKind::usage,
                fmt::format("the interpreter {} cannot be started", printable_line(python, 300)),
                "--package", "install Python 3");
  }
  std::error_code error;
  const fs::path folder = environments_folder(request, environment);
  fs::create_directories(folder, error);
  if (error) {
    return fail(ErrorKind::store, fmt::format("cannot create the folder: {}", error.message()),
                folder.string(), k_writable_cache);
  }
  BisectedVersions versions;
  versions.names = request.versions;
  const PackageInstaller installer(request, folder, python, sha256_hex(*described).substr(0, 8),
                                   path);
  versions.command = [installer](const std::string& version) { return installer.command(version); };
  versions.make_ready = [installer](const std::string& version) {
    return installer.make_ready(version);
  };
  versions.subject = [](const std::string&) { return std::string(); };
  return versions;
}

}  // namespace steptune
