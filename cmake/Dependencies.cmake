# All dependencies are packages of the distribution; nothing is downloaded.

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
# No version: simdjson's own check accepts only the same minor version.
find_package(simdjson REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(muparser REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(TBB REQUIRED)
find_package(Eigen3 3.4 REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
# Its flags are part of the library's binary interface; only pkg-config knows them.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib>=0.11)

if(STEPTUNE_EXAMPLES)
  # Debian's libtorch 1.13.1 calls itself 1.13.0. TorchConfig.cmake runs Caffe2's own search for glog, gflags and
  # protobuf, whose messages are of no use here.
  find_package(Torch 1.13 REQUIRED)
  find_package(JPEG REQUIRED)
endif()
if(STEPTUNE_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
