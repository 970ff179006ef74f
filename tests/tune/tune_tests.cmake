# Skipped where Python has no Optuna, which `cmake/go test` installs. The search runs on the machine that builds.
if (GYRE_BUILD_CLI AND NOT CMAKE_CROSSCOMPILING)
    foreach (part IN ITEMS Acceptance Bundle CampaignCalls CampaignJournals CampaignStudies CampaignVerdicts Campaigns Compare Compared Expressions
             Faults Kernels Options Places Replacing Report Resume Reverting Several Spaces Style Tunable Wholes Writing)
        add_test(NAME tune:${part}
                 COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tune/tune_test.py" "$<TARGET_FILE:gyre_cli>"
                         "${PROJECT_BINARY_DIR}" ${part})
        set_tests_properties(tune:${part} PROPERTIES SKIP_RETURN_CODE 77 COST 50)
    endforeach ()
    # Studies from end to end, many of each.
    foreach (part IN ITEMS Bundle Campaigns Compare Faults Kernels Places Replacing Report Resume Reverting Several)
        set_tests_properties(tune:${part} PROPERTIES LABELS nightly)
    endforeach ()
endif ()
