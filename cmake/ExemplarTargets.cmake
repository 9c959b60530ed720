# Compiler settings of every target: one set of flags, and one function that makes a library in its two forms.

add_library(ex_flags INTERFACE)
# These flags are for the host's compiler, so nvcc has to hand them on.
function(ex_add_flags)
  list(TRANSFORM ARGN PREPEND "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=>" OUTPUT_VARIABLE flags)
  target_compile_options(ex_flags INTERFACE ${flags})
endfunction()
ex_add_flags(-Wall -Wextra -Wconversion -Wshadow -ffp-contract=off -fno-math-errno)
target_compile_options(ex_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>)
# mingw-w64: isfinite and isnan are macros that warn. 'printf' in a format attribute means Microsoft's, which has no
# %zu, but the functions called are the standard ones. All other compilers check the formats.
if(MINGW)
  ex_add_flags(-Wno-float-conversion -Wno-format -Wno-format-extra-args)
endif()
if(EX_WERROR)
  ex_add_flags(-Werror)
endif()
if(EX_SIMD STREQUAL "scalar")
  target_compile_definitions(ex_flags INTERFACE EX_SIMD_SCALAR)
elseif(EX_SIMD STREQUAL "avx2")
  ex_add_flags(-mavx2 -mfma)
elseif(NOT EX_SIMD STREQUAL "auto")
  message(FATAL_ERROR "EX_SIMD is '${EX_SIMD}': use auto, avx2 or scalar")
endif()

set(EX_LIBRARY_KINDS static)
if(EX_SHARED)
  list(APPEND EX_LIBRARY_KINDS shared)
endif()

# Objects of a library, compiled once for its two forms.
function(ex_add_objects name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ex_flags)
endfunction()

# NAME_static and, with EX_SHARED, NAME_shared from the same objects. The plain NAME is an alias of the static one, for
# programs of this project.
function(ex_add_library name)
  ex_add_objects(${name}_objects ${ARGN})
  add_library(${name}_static STATIC $<TARGET_OBJECTS:${name}_objects>)
  if(EX_SHARED)
    ex_add_shared(${name} ${ARGN})
  endif()
  foreach(kind IN LISTS EX_LIBRARY_KINDS)
    set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
    target_include_directories(${name}_${kind} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(NOT WIN32)
      target_link_libraries(${name}_${kind} PUBLIC m)
    endif()
  endforeach()
  add_library(${name} ALIAS ${name}_static)
endfunction()

# Windows marks a DLL's exports when it compiles, so there the sources are compiled a second time.
function(ex_add_shared name)
  if(WIN32)
    add_library(${name}_shared SHARED ${ARGN})
    target_include_directories(${name}_shared PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name}_shared PRIVATE ex_flags)
    target_compile_definitions(${name}_shared PUBLIC EX_SHARED PRIVATE EX_BUILDING)
  else()
    add_library(${name}_shared SHARED $<TARGET_OBJECTS:${name}_objects>)
    set_target_properties(${name}_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
    if(NOT APPLE AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
      target_link_options(${name}_shared PRIVATE -Wl,--no-undefined)
    endif()
  endif()
  set_target_properties(${name}_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${EX_ABI})
endfunction()

# Links library `name` to another library of this project and to further ones that its objects include. The base does
# not export its private functions (exi_). A shared library takes those from the base's archive and does not export them
# either.
function(ex_link_library name base)
  target_link_libraries(${name}_objects PRIVATE ${ARGN})
  target_link_libraries(${name}_static PUBLIC ${base}_static ${ARGN})
  if(EX_SHARED)
    target_link_libraries(${name}_shared PUBLIC ${base}_shared PRIVATE ${base}_static ${ARGN})
    if(NOT APPLE)
      target_link_options(${name}_shared PRIVATE -Wl,--exclude-libs,$<TARGET_FILE_NAME:${base}_static>)
    endif()
  endif()
endfunction()
