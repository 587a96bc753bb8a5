# ridgeline_library(NAME SOURCES … DEPS …): the static library of one src/ folder.
# ridgeline_test(NAME SOURCES … DEPS … [LABELS …] [TIMEOUT s]): one GoogleTest program.
# ridgeline_def_names(OUT FILE): the first argument of every row of an X-macro list, so that C++ and
# CMake read the same list.

function(ridgeline_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(ridgeline_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(ridgeline_${name} PUBLIC ridgeline_options ${ARG_DEPS})
endfunction()

function(ridgeline_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE RIDGELINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  if("threads" IN_LIST ARG_LABELS)
    add_dependencies(thread_tests ${name})
  endif()
endfunction()

function(ridgeline_def_names out file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} rows REGEX "^RL_[A-Z_]+\\(")
  set(names "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^RL_[A-Z_]+\\(([A-Za-z0-9_]+).*" "\\1" one "${row}")
    list(APPEND names ${one})
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()
