# jsprof-config.cmake - find_package(jsprof): jsprof::jsprof, jsprof::static; and the library that
# reads captures, jsprof::read, jsprof::read_static.
#
# The libraries lie two folders above this file, the headers in an include folder above that.
#
# SPDX-License-Identifier: MIT
get_filename_component(_jsprof_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(_jsprof_include "")
foreach(_jsprof_up ".." "../..")
    if(NOT _jsprof_include AND EXISTS "${_jsprof_lib}/${_jsprof_up}/include/jsprof.h")
        get_filename_component(_jsprof_include "${_jsprof_lib}/${_jsprof_up}/include" ABSOLUTE)
    endif()
endforeach()
if(NOT _jsprof_include)
    set(_jsprof_include "@PREFIX@/include")
endif()

include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
if(NOT TARGET jsprof::jsprof)
    add_library(jsprof::jsprof SHARED IMPORTED)
    set_target_properties(jsprof::jsprof PROPERTIES
        IMPORTED_LOCATION "${_jsprof_lib}/libjsprof.so"
        INTERFACE_INCLUDE_DIRECTORIES "${_jsprof_include}")
    add_library(jsprof::static STATIC IMPORTED)
    set_target_properties(jsprof::static PROPERTIES
        IMPORTED_LOCATION "${_jsprof_lib}/libjsprof.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_jsprof_include}"
        INTERFACE_LINK_LIBRARIES Threads::Threads)
    add_library(jsprof::read SHARED IMPORTED)
    set_target_properties(jsprof::read PROPERTIES
        IMPORTED_LOCATION "${_jsprof_lib}/libjsprof-read.so"
        INTERFACE_INCLUDE_DIRECTORIES "${_jsprof_include}")
    add_library(jsprof::read_static STATIC IMPORTED)
    set_target_properties(jsprof::read_static PROPERTIES
        IMPORTED_LOCATION "${_jsprof_lib}/libjsprof-read.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_jsprof_include}"
        INTERFACE_LINK_LIBRARIES "Threads::Threads;m;${CMAKE_DL_LIBS}")
endif()
set(jsprof_FOUND TRUE)
