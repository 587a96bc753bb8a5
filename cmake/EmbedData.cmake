# ridgeline_embed(TARGET FILES…): each file becomes a string in the library, found by the path
# relative to data/, so that the program stands alone.
# ridgeline_embed_as(TARGET HEADER NAMESPACE FUNCTION FILES…): the same for another function, which
# HEADER declares in NAMESPACE; its files are found by their names alone.
set(RIDGELINE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(ridgeline_embed_with target root header namespace function)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${function}.cc)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${root} -DHEADER=${header}
            -DNAMESPACE=${namespace} -DFUNCTION=${function} "-DFILES=${joined}"
            -P ${RIDGELINE_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${RIDGELINE_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

function(ridgeline_embed target)
  ridgeline_embed_with(${target} ${PROJECT_SOURCE_DIR}/data base/embedded.h ridgeline EmbeddedFiles
    ${ARGN})
endfunction()

function(ridgeline_embed_as target header namespace function)
  ridgeline_embed_with(${target} "" ${header} ${namespace} ${function} ${ARGN})
endfunction()
