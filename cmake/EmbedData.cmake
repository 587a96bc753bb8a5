# ridgeline_embed(TARGET NAMESPACE FILES…): each file becomes a string in the library, found by the
# path relative to data/, so that the program stands alone.
set(RIDGELINE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)
function(ridgeline_embed target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_data.cc)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${PROJECT_SOURCE_DIR}/data "-DFILES=${joined}"
            -P ${RIDGELINE_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${RIDGELINE_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
