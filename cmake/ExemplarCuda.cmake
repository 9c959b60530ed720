# The GPU runtime (libexemplar_cuda), if EX_CUDA asks for it. Sets EX_WITH_CUDA: ON if it is built. A toolkit of 12.8 or
# later is found by its compiler nvcc, in the path or in its usual place. The only library used from it is cudart,
# linked statically, so a program that can use a GPU also starts on machines without one.
set(EX_WITH_CUDA OFF)
# Machine code for each generation, which also runs on its later members (8.0 on 8.6 and 8.9), and code that the driver
# can compile for generations after the last. A generation takes as long to compile as the rest of the runtime.
set(every_generation 75 80 90 100 120)
set(EX_CUDA_ARCHITECTURES "" CACHE STRING
  "Compute capabilities to compile for: 90 is 9.0; empty: those of the GPUs here, or of all generations where there is none")
# Architectures from the environment apply once and are not kept.
if(NOT "$ENV{EX_CUDA_ARCHITECTURES}" STREQUAL "")
  set(EX_CUDA_ARCHITECTURES "$ENV{EX_CUDA_ARCHITECTURES}")
endif()

# Sets `reason` to why there is no suitable compiler; empty if there is one.
function(ex_find_cuda reason)
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE) # it may have been installed meanwhile
    find_program(EX_NVCC nvcc PATHS /usr/local/cuda/bin)
    mark_as_advanced(EX_NVCC)
    if(EX_NVCC AND NOT DEFINED ENV{CUDACXX})
      set(ENV{CUDACXX} ${EX_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(${reason} "no CUDA compiler (nvcc) was found that works" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX REPLACE ".*release ([0-9]+\\.[0-9]+).*" "\\1" version "${version}")
  if(NOT version VERSION_GREATER_EQUAL 12.8)
    set(${reason} "${CMAKE_CUDA_COMPILER} is older than 12.8" PARENT_SCOPE)
  else()
    set(${reason} "" PARENT_SCOPE)
  endif()
endfunction()

# The compute capabilities of the GPUs here; empty if there are none.
function(ex_find_gpus list)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE said
    RESULT_VARIABLE failed ERROR_QUIET)
  set(found "")
  if(NOT failed)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" found "${said}")
    string(REPLACE "." "" found "${found}")
    list(REMOVE_DUPLICATES found)
    list(SORT found COMPARE NATURAL)
  endif()
  set(${list} ${found} PARENT_SCOPE)
endfunction()

# The requested architectures that this compiler knows: machine code for all, and intermediate code for the last.
function(ex_choose_architectures list)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known)
  string(REGEX MATCHALL "sm_[0-9]+" known "${known}")
  set(wanted ${EX_CUDA_ARCHITECTURES})
  if(NOT wanted)
    ex_find_gpus(wanted)
    # A GPU newer than the compiler runs the newest intermediate code, compiled by the driver.
    foreach(number IN LISTS wanted)
      if(NOT "sm_${number}" IN_LIST known)
        set(wanted "")
      endif()
    endforeach()
  endif()
  if(NOT wanted)
    set(wanted ${every_generation})
  endif()
  set(chosen "")
  foreach(number IN LISTS wanted)
    if("sm_${number}" IN_LIST known)
      list(APPEND chosen ${number})
    else()
      message(STATUS "CUDA: this compiler makes no code for compute capability ${number}, so it is left out")
    endif()
  endforeach()
  if(NOT chosen)
    message(FATAL_ERROR "EX_CUDA_ARCHITECTURES is '${EX_CUDA_ARCHITECTURES}': ${CMAKE_CUDA_COMPILER} knows none of them")
  endif()
  message(STATUS "CUDA: code for compute capabilities ${chosen}")
  list(POP_BACK chosen last)
  list(TRANSFORM chosen APPEND "-real")
  set(${list} ${chosen} ${last} PARENT_SCOPE)
endfunction()

if(NOT EX_CUDA STREQUAL "AUTO" AND NOT EX_CUDA)
  return()
endif()
if(CMAKE_CROSSCOMPILING AND EX_CUDA STREQUAL "AUTO")
  return()
endif()
ex_find_cuda(reason)
if(reason AND EX_CUDA STREQUAL "AUTO")
  message(STATUS "CUDA: ${reason}, so the GPU runtime is left out")
  return()
elseif(reason)
  message(FATAL_ERROR "EX_CUDA is ${EX_CUDA}, but ${reason}: install the CUDA toolkit, 12.8 or later, name its nvcc by "
    "-DCMAKE_CUDA_COMPILER=..., or leave the GPU runtime out by -DEX_CUDA=OFF")
endif()

ex_choose_architectures(CMAKE_CUDA_ARCHITECTURES)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
enable_language(CUDA)
# Programs are linked as C, without the libraries that nvcc would add, such as the C++ library.
set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
find_package(CUDAToolkit REQUIRED)
set(EX_WITH_CUDA ON)

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cuda/*.c ${CMAKE_SOURCE_DIR}/src/cuda/*.cu)
ex_add_library(exemplar_cuda ${cuda_sources})
# The code that nvcc writes around a kernel keeps a handle in a static variable. C++ guards it with functions of its
# library, from the part that needs nothing else and is linked statically. Without guards (-fno-threadsafe-statics), a
# second thread could launch before it sees the handle, on processors that reorder stores.
ex_link_library(exemplar_cuda exemplar CUDA::cudart_static supc++)
if(EX_SHARED AND NOT APPLE)
  target_link_options(exemplar_cuda_shared PRIVATE -Wl,--exclude-libs,libcudart_static.a:libsupc++.a:libgcc_eh.a)
endif()
# Compile the architectures of a file in parallel.
target_compile_options(exemplar_cuda_objects PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--threads=4>)
