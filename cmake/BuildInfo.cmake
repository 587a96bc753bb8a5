# Versions of what the program was built with, for result headers.
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/debian-packages.txt package_rows REGEX "^[a-z]")
set(RIDGELINE_PACKAGES "")
foreach(row IN LISTS package_rows)
  string(REGEX MATCH "^[^ ]+" package "${row}")
  execute_process(COMMAND dpkg-query -W -f "\${Version}" ${package}
                  OUTPUT_VARIABLE package_version ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    string(APPEND RIDGELINE_PACKAGES "    {\"${package}\", \"${package_version}\"},\n")
  endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.cc.in
               ${CMAKE_CURRENT_BINARY_DIR}/build_info.cc @ONLY)
