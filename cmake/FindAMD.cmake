# AMD, the ordering of SuiteSparse, as the target AMD::AMD. Debian 12 packages it without a pkg-config file or CMake
# package, and distributions differ in the folder of its header. Installed with Exemplar's own package, which needs it
# to link authoring statically.
find_path(AMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse)
find_library(AMD_LIBRARY amd)
find_library(AMD_CONFIG_LIBRARY suitesparseconfig)
mark_as_advanced(AMD_INCLUDE_DIR AMD_LIBRARY AMD_CONFIG_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(AMD NAME_MISMATCHED REQUIRED_VARS AMD_LIBRARY AMD_INCLUDE_DIR AMD_CONFIG_LIBRARY
  REASON_FAILURE_MESSAGE "authoring orders sparse matrices with AMD of SuiteSparse (Debian: libsuitesparse-dev)")

if(AMD_FOUND AND NOT TARGET AMD::AMD)
  add_library(AMD::AMD INTERFACE IMPORTED)
  set_target_properties(AMD::AMD PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${AMD_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${AMD_LIBRARY};${AMD_CONFIG_LIBRARY}")
endif()
