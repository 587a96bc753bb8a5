# Compiler flags that every target of the project shares.
add_library(ridgeline_options INTERFACE)
target_compile_options(ridgeline_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${RIDGELINE_WERROR}>:-Werror>)
target_include_directories(ridgeline_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(RIDGELINE_SANITIZE)
  target_compile_options(ridgeline_options INTERFACE
    -fsanitize=${RIDGELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # GCC 12 sees ghosts in <regex> and std::function under sanitizers.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(ridgeline_options INTERFACE -fsanitize=${RIDGELINE_SANITIZE})
endif()
if(RIDGELINE_FUZZ)
  # Coverage of the code under test guides the fuzzers. The checks left out are a quarter of the
  # build's time; what they find AddressSanitizer finds when it is used, and preset asan-ubsan has them.
  target_compile_options(ridgeline_options INTERFACE -fsanitize=fuzzer-no-link
    -fno-sanitize=alignment,null,object-size,vptr)
  target_link_options(ridgeline_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(RIDGELINE_COVERAGE)
  target_compile_options(ridgeline_options INTERFACE --coverage)
  target_link_options(ridgeline_options INTERFACE --coverage)
endif()
