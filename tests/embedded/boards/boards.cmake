# The board for this processor, emulated: the variables
#   board_sources, board_flags    start-up code, and what it is compiled with beside the processor's own flags
#   board_clock                   of the processor, in MHz
#   board_script                  for the linker
#   board_run                     qemu with its options, to be followed by a program
# All are empty for the machine that builds, but for the sources; board_run also where qemu is missing.

set(board_folder "${CMAKE_CURRENT_LIST_DIR}")
# processor | qemu | its options | start-up code | linker script | processor's clock
set(board_aarch64-none "aarch64|-M virt -cpu cortex-a53 -m 64|aarch64_virt.S|virt|0")
set(board_cortex-a32 "arm|-M virt -cpu max -m 64|arm_virt.S|virt|0") # qemu has no Cortex-A32
set(board_cortex-m4 "arm|-M mps2-an386|cortex_m.c|cortex_m|25")
set(board_cortex-m7 "arm|-M mps2-an500|cortex_m.c|cortex_m|25")
set(board_cortex-m33 "arm|-M mps2-an505|cortex_m.c|cortex_m33|20")
set(board_riscv32-none "riscv32|-M virt -bios none -m 64|riscv_virt.S|riscv_virt|0")
set(board_riscv64-none "riscv64|-M virt -bios none -m 64|riscv_virt.S|riscv_virt|0")
set(board_cortex-m55 "arm|-M mps3-an547|cortex_m.c|cortex_m|32")
set(board_cortex-m85 "${board_cortex-m55}") # qemu has no Cortex-M85

set(board_sources "${board_folder}/host.c")
set(board_flags "")
set(board_script "")
set(board_run "")
if (DEFINED board_${CMAKE_SYSTEM_PROCESSOR})
    string(REPLACE "|" ";" board "${board_${CMAKE_SYSTEM_PROCESSOR}}")
    list(POP_FRONT board machine options start script board_clock)
    set(board_sources "${board_folder}/${start}" "${board_folder}/memory.c")
    set(board_flags -std=gnu99 "-DBOARD_MHZ=${board_clock}")
    set(board_script "${board_folder}/${script}.ld")
    find_program(GYRE_QEMU_${machine} qemu-system-${machine})
    separate_arguments(options UNIX_COMMAND "${options}")
    set(board_run "${GYRE_QEMU_${machine}}" ${options} -nographic -nic none -icount shift=0 -semihosting-config
                  enable=on,target=native -kernel)
    if (NOT GYRE_QEMU_${machine})
        message(STATUS "gyre: no qemu-system-${machine} (apt-get install qemu-system-arm): programs are built and not run")
        set(board_run "")
    endif ()
endif ()
