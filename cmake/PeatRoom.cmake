# SPDX-License-Identifier: MIT
# peat_room(NAME [BELOW room...] [USES library...]): core/NAME as the static library peat_NAME.
# What other rooms may include stands in core/NAME/include/NAME; headers beside the sources are its
# own. floor_NAME links all of it with nothing but the rooms below, so that a call into a room above
# fails the build.
#
# core/NAME/levels/*.c (tensor/levels.h) is compiled once for each level of the processor, and
# core/NAME/rows/*.c once for each level and each real type.
set(levels base)
set(level_flags_base)
include(CheckIncludeFile)
check_include_file(sys/platform/x86.h PEAT_HAS_PLATFORM_X86) # glibc's, from version 2.33 on
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND PEAT_VECTOR_LEVELS AND PEAT_HAS_PLATFORM_X86)
  list(APPEND levels v3 v4)
  # As level_here() of core/tensor/levels.c asks for them.
  set(level_flags_v3 -mavx2 -mfma -mbmi -mbmi2)
  set(level_flags_v4 ${level_flags_v3} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl
    -mprefer-vector-width=512)
  target_compile_definitions(peat_flags INTERFACE PEAT_VECTOR_LEVELS=1)
endif()

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/floor.c "int main(void) { return 0; }\n")

# The sources of a folder of room NAME as object files of a level.
function(peat_level name level folder suffix)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${folder}/*.c)
  if(NOT sources)
    return()
  endif()
  set(target peat_${name}_${level}${suffix})
  add_library(${target} OBJECT ${sources})
  target_compile_definitions(${target} PRIVATE LEVEL=${level} ${ARGN})
  # VEC_LANES of tensor/levels.h
  target_compile_options(${target} PRIVATE ${level_flags_${level}} -fopenmp-simd)
  target_include_directories(${target} PRIVATE
    $<TARGET_PROPERTY:peat_${name},INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} PRIVATE peat_flags)
  target_sources(peat_${name} PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

function(peat_room name)
  cmake_parse_arguments(room "" "" "BELOW;USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.c)
  add_library(peat_${name} STATIC ${sources})
  target_include_directories(peat_${name}
    PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/${name}/include ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}) # headers of levels/ and rows/ are found there
  foreach(level IN LISTS levels)
    peat_level(${name} ${level} levels "")
    foreach(bits IN ITEMS 32 64)
      peat_level(${name} ${level} rows _f${bits} PEAT_REAL=${bits})
    endforeach()
  endforeach()
  set(closure ${name})
  foreach(other IN LISTS room_BELOW)
    target_link_libraries(peat_${name} PUBLIC peat_${other})
    get_target_property(below peat_${other} PEAT_ROOMS)
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  target_link_libraries(peat_${name} PUBLIC peat_flags PRIVATE ${room_USES} m)
  set_target_properties(peat_${name} PROPERTIES PEAT_ROOMS "${closure}")

  add_executable(floor_${name} ${PROJECT_BINARY_DIR}/floor.c)
  target_link_libraries(floor_${name} PRIVATE
    -Wl,--whole-archive $<TARGET_FILE:peat_${name}> -Wl,--no-whole-archive peat_${name})
  set_target_properties(floor_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/floors
    LINK_DEPENDS $<TARGET_FILE:peat_${name}>)
endfunction()
