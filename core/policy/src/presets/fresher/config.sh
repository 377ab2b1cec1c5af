# Settings of the loop's hooks. Read for its assignments, never run; what is exported reaches the hooks.

# Hook settings
export FRESHER_HOOK_TIMEOUT="${FRESHER_HOOK_TIMEOUT:-30}"
export FRESHER_HOOKS_ENABLED="${FRESHER_HOOKS_ENABLED:-true}"
export FRESHER_HOOK_FAIL_BEHAVIOR="${FRESHER_HOOK_FAIL_BEHAVIOR:-continue}"

# Per-hook enable/disable
export FRESHER_HOOK_STARTED_ENABLED="${FRESHER_HOOK_STARTED_ENABLED:-true}"
export FRESHER_HOOK_NEXT_ITERATION_ENABLED="${FRESHER_HOOK_NEXT_ITERATION_ENABLED:-true}"
export FRESHER_HOOK_FINISHED_ENABLED="${FRESHER_HOOK_FINISHED_ENABLED:-true}"
