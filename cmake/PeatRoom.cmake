# SPDX-License-Identifier: MIT
# peat_room(NAME [BELOW room...] [USES library...]): core/NAME as the static library peat_NAME.
# What other rooms may include stands in core/NAME/include/NAME; headers beside the sources are its
# own. floor_NAME links all of it with nothing but the rooms below, so that a call into a room above
# fails the build.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/floor.c "int main(void) { return 0; }\n")

function(peat_room name)
  cmake_parse_arguments(room "" "" "BELOW;USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.c)
  add_library(peat_${name} STATIC ${sources})
  target_include_directories(peat_${name} PUBLIC
    ${CMAKE_CURRENT_SOURCE_DIR}/${name}/include ${PROJECT_SOURCE_DIR}/include)
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
