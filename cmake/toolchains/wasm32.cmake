# WebAssembly with clang, wasi-libc and lld (Debian: clang, lld, llvm, wasi-libc and libclang-rt-14-dev-wasm32, with
# clang's number). "Generic" because the CMake of Debian 12 and Ubuntu 24.04 knows no system called WASI.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_SYSROOT /usr)
set(CMAKE_C_FLAGS_INIT "-msimd128")
set(CMAKE_EXECUTABLE_SUFFIX_C .wasm)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
