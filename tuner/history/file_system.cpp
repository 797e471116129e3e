// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/file_system.hpp"

#include <array>
#include <string_view>

#include <sys/vfs.h>

namespace steptune {
namespace {

struct KnownFileSystem {
  std::int64_t magic;
  FileSystemTrust trust;
  std::string_view name;
};

// The numbers are from statfs(2) and linux/magic.h. Those of Lustre, GPFS and BeeGFS are from the
// sources of these projects.
constexpr std::array<KnownFileSystem, 11> k_known{{
    {0x6969, FileSystemTrust::network, "NFS"},
    {0x517B, FileSystemTrust::network, "SMB"},
    {0xFE534D42, FileSystemTrust::network, "SMB2"},
    {0xFF534D42, FileSystemTrust::network, "CIFS"},
    {0x5346414F, FileSystemTrust::network, "AFS"},
    {0x00C36400, FileSystemTrust::network, "Ceph"},
    {0x0BD00BD0, FileSystemTrust::network, "Lustre"},
    {0x47504653, FileSystemTrust::network, "GPFS"},
    {0x19830326, FileSystemTrust::network, "BeeGFS"},
    {0x01021997, FileSystemTrust::doubtful, "9p"},
    {0x65735546, FileSystemTrust::doubtful, "FUSE"},
}};

}  // namespace

FileSystemKind file_system_kind(std::int64_t magic) {
  for (const auto& known : k_known) {
    if (known.magic == magic) return {known.trust, std::string(known.name)};
  }
  return {};
}

FileSystemKind file_system_of(const std::filesystem::path& folder) {
  struct statfs information {};
  if (statfs(folder.c_str(), &information) != 0) return {};
  // f_type is signed and 32 bits wide in some ABIs.
  return file_system_kind(static_cast<std::int64_t>(information.f_type) & 0xFFFFFFFF);
}

}  // namespace steptune
