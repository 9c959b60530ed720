# The editor: its page, editor.html, which is part of the tool. Sets EX_WITH_EDITOR: ON if 'exemplar edit' is built, else
# EX_EDITOR_MISSING, the reason; EX_EDITOR_PAGE_FILE, the page; EX_EDITOR_MODULES_DIR, the packages from npm, if the page
# is made here.
#
# esbuild makes the page from editor/page, with the runtime as WebAssembly. Packages from npm are fetched once for each
# package-lock.json, at configure time. So a build never waits for the network, and does not fail without it.
set(EX_EDITOR_PAGE "" CACHE FILEPATH "An editor.html made elsewhere, to be taken as it is; empty: it is made here")
set(EX_EDITOR_MODULES "" CACHE PATH
  "A node_modules with what editor/page/package-lock.json names; empty: npm fetches it into the build folder")
mark_as_advanced(EX_EDITOR_PAGE EX_EDITOR_MODULES)
set(EX_WITH_EDITOR OFF)
set(EX_EDITOR_MISSING "EX_EDITOR was OFF")
set(page_source ${CMAKE_SOURCE_DIR}/editor/page)
set(page_folder ${CMAKE_BINARY_DIR}/editor)

# ---- @exemplar/runtime, in build/PRESET/wasm/package; also a target of its own ----

set(EX_WASM_PACKAGE ${CMAKE_BINARY_DIR}/wasm/package)
set(wasm_stamp ${CMAKE_BINARY_DIR}/wasm.stamp)
file(GLOB_RECURSE wasm_sources CONFIGURE_DEPENDS src/runtime/*.[ch] src/runtime/*.inl include/exemplar/*.h)
list(FILTER wasm_sources EXCLUDE REGEX "/include/exemplar/(author|cuda)")
file(GLOB wasm_package_sources CONFIGURE_DEPENDS editor/runtime/*)
# Flags in the environment, as packagers set them, are for this machine.
add_custom_command(OUTPUT ${wasm_stamp}
  COMMAND ${CMAKE_COMMAND} -E env --unset=CFLAGS --unset=CPPFLAGS --unset=LDFLAGS
    ${CMAKE_COMMAND} --preset wasm -B ${CMAKE_BINARY_DIR}/wasm --log-level=WARNING -DEX_WERROR=${EX_WERROR}
  COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR}/wasm
  COMMAND ${CMAKE_COMMAND} -E touch ${wasm_stamp}
  DEPENDS ${wasm_sources} ${wasm_package_sources} ${CMAKE_SOURCE_DIR}/cmake/toolchains/wasm32.cmake
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Building the runtime for WebAssembly" VERBATIM)
add_custom_target(editor_runtime DEPENDS ${wasm_stamp})

# ---- requirements ----

# Prints a line even if 'make' has asked CMake for warnings only.
function(ex_say line)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${line}")
endfunction()

# Each of these sets `reason` to what is missing; empty if nothing is.
# Links a module, to see that compiler, linker, C library and compiler runtime fit together.
function(ex_find_wasm reason)
  set(${reason} "" PARENT_SCOPE)
  find_program(EX_WASM_CLANG clang)
  find_program(EX_WASM_LINKER wasm-ld)
  find_program(EX_WASM_ARCHIVER llvm-ar)
  mark_as_advanced(EX_WASM_CLANG EX_WASM_LINKER EX_WASM_ARCHIVER)
  foreach(tool IN ITEMS CLANG:clang LINKER:lld ARCHIVER:llvm)
    string(REPLACE ":" ";" tool ${tool})
    list(GET tool 0 name)
    list(GET tool 1 package)
    if(NOT EX_WASM_${name})
      set(${reason} "the compiler for WebAssembly is not whole (Debian: ${package})" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  file(MAKE_DIRECTORY ${page_folder})
  file(WRITE ${page_folder}/probe.c "#include <stdlib.h>\nvoid *probe(void);\nvoid *probe(void) { return malloc(1); }\n")
  execute_process(COMMAND ${EX_WASM_CLANG} --target=wasm32-wasi --sysroot=/usr -msimd128 -mexec-model=reactor
    -o ${page_folder}/probe.wasm ${page_folder}/probe.c RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${reason} "clang makes no WebAssembly here (Debian: wasi-libc, and libclang-rt-14-dev-wasm32 for clang 14)"
      PARENT_SCOPE)
  endif()
endfunction()

# Fetches the packages of editor/page/package-lock.json into editor/npm of the build folder. npm waits only a few
# seconds for the network; without it, the next configure tries again.
function(ex_fetch_modules folder reason)
  set(${reason} "" PARENT_SCOPE)
  set(${folder} ${page_folder}/npm/node_modules PARENT_SCOPE)
  file(SHA256 ${page_source}/package-lock.json wanted)
  if(EXISTS ${page_folder}/npm/installed)
    file(READ ${page_folder}/npm/installed installed)
    if(installed STREQUAL wanted)
      return()
    endif()
    file(REMOVE ${page_folder}/npm/installed)
  endif()
  find_program(EX_NPM npm)
  mark_as_advanced(EX_NPM)
  if(NOT EX_NPM)
    set(${reason} "npm was not found, which fetches what makes the page" PARENT_SCOPE)
    return()
  endif()
  ex_say("Editor: npm fetches what makes the page")
  foreach(file IN ITEMS package.json package-lock.json .npmrc)
    configure_file(${page_source}/${file} ${page_folder}/npm/${file} COPYONLY)
  endforeach()
  execute_process(COMMAND ${EX_NPM} ci --fetch-retries=1 --fetch-retry-mintimeout=2000
    WORKING_DIRECTORY ${page_folder}/npm OUTPUT_FILE ${page_folder}/npm.log ERROR_FILE ${page_folder}/npm.log
    RESULT_VARIABLE failed TIMEOUT 300)
  if(failed)
    set(${reason} "npm could not fetch what makes the page (${page_folder}/npm.log)" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${page_folder}/npm/installed ${wanted})
endfunction()

function(ex_find_modules folder reason)
  set(${reason} "" PARENT_SCOPE)
  find_program(EX_NODE node NAMES nodejs)
  mark_as_advanced(EX_NODE)
  if(NOT EX_NODE)
    set(${reason} "node was not found (Debian: nodejs)" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${EX_NODE} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX REPLACE "^v([0-9.]+).*" "\\1" version "${version}")
  if(NOT version VERSION_GREATER_EQUAL 18.17)
    set(${reason} "${EX_NODE} is older than 18.17" PARENT_SCOPE)
    return()
  endif()
  if(EX_EDITOR_MODULES)
    set(${folder} ${EX_EDITOR_MODULES} PARENT_SCOPE)
    if(NOT EXISTS ${EX_EDITOR_MODULES}/esbuild OR NOT EXISTS ${EX_EDITOR_MODULES}/three)
      set(${reason} "${EX_EDITOR_MODULES}, which EX_EDITOR_MODULES names, holds no esbuild and three.js" PARENT_SCOPE)
    endif()
    return()
  endif()
  ex_fetch_modules(modules why)
  set(${folder} ${modules} PARENT_SCOPE)
  set(${reason} "${why}" PARENT_SCOPE)
endfunction()

# ---- the page ----

if(NOT EX_EDITOR STREQUAL "AUTO" AND NOT EX_EDITOR)
  return()
endif()
if(CMAKE_CROSSCOMPILING AND EX_EDITOR STREQUAL "AUTO")
  set(EX_EDITOR_MISSING "it is left out where the target is another machine")
  return()
endif()
set(reason "")
if(EX_EDITOR_PAGE AND NOT EXISTS ${EX_EDITOR_PAGE})
  set(reason "EX_EDITOR_PAGE names '${EX_EDITOR_PAGE}', which is not there")
elseif(NOT EX_EDITOR_PAGE)
  ex_find_wasm(reason)
  if(NOT reason)
    ex_find_modules(EX_EDITOR_MODULES_DIR reason)
  endif()
endif()
if(reason AND EX_EDITOR STREQUAL "AUTO")
  ex_say("Editor: ${reason}, so 'exemplar edit' is left out")
  set(EX_EDITOR_MISSING "${reason}")
  return()
elseif(reason)
  message(FATAL_ERROR "EX_EDITOR is ${EX_EDITOR}, but ${reason}: install it, or leave the editor out by -DEX_EDITOR=OFF")
endif()

set(EX_WITH_EDITOR ON)
enable_language(ASM) # the tool's copy of the page
if(EX_EDITOR_PAGE)
  set(EX_EDITOR_PAGE_FILE ${EX_EDITOR_PAGE})
  return()
endif()
set(EX_EDITOR_PAGE_FILE ${page_folder}/editor.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_source}/package-lock.json)
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS editor/page/src/*)
add_custom_command(OUTPUT ${EX_EDITOR_PAGE_FILE}
  COMMAND ${EX_NODE} ${page_source}/build.mjs --modules ${EX_EDITOR_MODULES_DIR} --runtime ${EX_WASM_PACKAGE}
    --output ${EX_EDITOR_PAGE_FILE}
  DEPENDS ${page_sources} ${page_source}/index.html ${page_source}/style.css ${page_source}/build.mjs
    ${page_source}/package-lock.json ${page_source}/tsconfig.json ${CMAKE_SOURCE_DIR}/LICENSE
    ${CMAKE_SOURCE_DIR}/editor/NOTICE ${wasm_stamp}
  COMMENT "Building the editor's page" VERBATIM)
add_custom_target(editor_page DEPENDS ${EX_EDITOR_PAGE_FILE})
add_dependencies(editor_page editor_runtime)
