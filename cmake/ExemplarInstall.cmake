# Rules of 'make install': headers, both forms of the libraries, the tool, pkg-config files, a CMake package and the
# licence. cli/CMakeLists.txt adds man pages and completions. Nothing installed contains an absolute path, so the prefix
# may be moved.
#
#   find_package(exemplar)                     exemplar::exemplar (shared, where built), exemplar::exemplar_static
#   find_package(exemplar COMPONENTS author)   exemplar::author, exemplar::author_static; needs jansson, libpng, AMD,
#                                              and libjpeg if built with it
#   find_package(exemplar COMPONENTS cuda)     exemplar::cuda; exemplar::cuda_static, which needs the CUDA toolkit
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/exemplar)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The libraries `name` under their exported names, as the CMake package file exemplar-PART-targets.cmake.
function(ex_install_library name exported part)
  set_target_properties(${name}_static PROPERTIES EXPORT_NAME ${exported}_static)
  set(libraries ${name}_static)
  if(EX_SHARED)
    set_target_properties(${name}_shared PROPERTIES EXPORT_NAME ${exported})
    list(APPEND libraries ${name}_shared)
  endif()
  install(TARGETS ${libraries} EXPORT exemplar-${part}-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT exemplar-${part}-targets NAMESPACE exemplar:: DESTINATION ${package_dir})
endfunction()

# NAME.pc finds its prefix from its own place.
function(ex_install_pkgconfig name)
  file(RELATIVE_PATH prefix_from_pc /prefix/${pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endfunction()

ex_install_library(exemplar exemplar runtime)
ex_install_pkgconfig(exemplar)
file(GLOB runtime_headers CONFIGURE_DEPENDS include/exemplar/*.h)
list(FILTER runtime_headers EXCLUDE REGEX "/(author|cuda)\\.h$")
install(FILES ${runtime_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/exemplar)

if(EX_AUTHOR)
  ex_install_library(exemplar_author author author)
  set(EX_PC_JPEG "")
  if(EX_JPEG)
    set(EX_PC_JPEG ", libjpeg")
  endif()
  ex_install_pkgconfig(exemplar-author)
  install(FILES cmake/FindAMD.cmake DESTINATION ${package_dir})
  install(FILES include/exemplar/author.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/exemplar)
  install(DIRECTORY include/exemplar/author DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/exemplar FILES_MATCHING PATTERN *.h)
endif()

if(EX_WITH_CUDA)
  ex_install_library(exemplar_cuda cuda cuda)
  ex_install_pkgconfig(exemplar-cuda)
  install(FILES include/exemplar/cuda.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/exemplar)
endif()

configure_package_config_file(cmake/exemplar-config.cmake.in ${CMAKE_BINARY_DIR}/exemplar-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0, a new minor version may break its callers.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/exemplar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/exemplar-config.cmake ${CMAKE_BINARY_DIR}/exemplar-config-version.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The licences of what is compiled into the editor's page.
if(EX_WITH_EDITOR)
  install(FILES editor/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
