#!/usr/bin/env bash
# The first minute of a new user: from an empty home and nothing but the packages to the first stopped command, each step timed.
#   bash dev/release/first-minute.sh <folder that `release pack` has filled>
# Ends with 1 when something goes wrong or all of it takes longer than a minute.
set -euo pipefail
packages=$(cd "$1" && pwd)
limit=60

home=$(mktemp -d "${TMPDIR:-/tmp}/taut-minute.XXXXXX")
trap 'rm -rf "$home"' EXIT
mkdir -p "$home/acme"
cd "$home/acme"
# Nothing of whoever runs this: no configuration, no language, no agent above it.
new_user() { env -i HOME="$home" PATH="$home/.local/bin:/usr/bin:/bin" TAUT_NO_DAEMON=1 "$@"; }

begun=$EPOCHREALTIME
last=$begun
ms() { awk -v from="$1" -v to="$2" 'BEGIN { printf "%d", (to - from) * 1000 }'; }
step() {
  local now=$EPOCHREALTIME
  printf '%6d ms  %s\n' "$(ms "$last" "$now")" "$1"
  last=$now
}
fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

new_user sh "$packages/install.sh" >"$home/said" 2>&1 || fail "the installer: $(cat "$home/said")"
step "sh install.sh"

new_user taut init --yes --agent claude-code >"$home/said" 2>&1 || fail "taut init: $(cat "$home/said")"
grep -q 'Proof, through the installed line' "$home/said" || fail "taut init proved nothing: $(cat "$home/said")"
step "taut init --yes --agent claude-code, with its proof"

# As Claude Code calls it: the line that stands in its settings, with the call on stdin. A shell is the client's process, which
# marks what it starts.
line=$(sed -n 's/^ *"PreToolUse": .*"command": "\([^"]*\)", "args": \[\([^]]*\)\].*/\1 \2/p' "$home/.claude/settings.json" | tr -d '",')
[[ -n $line ]] || fail "no line for PreToolUse: $(cat "$home/.claude/settings.json")"
read -ra words <<<"$line"
call='{"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_use_id": "1", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}'
new_user sh -c 'env CLAUDECODE=1 CLAUDE_CODE_ENTRYPOINT=cli CLAUDE_PID=$$ "$@"; exit $?' agent "${words[@]}" <<<"$call" >"$home/said" || fail "the hook: $(cat "$home/said")"
grep -q '"permissionDecision":"deny"' "$home/said" || fail "the hook did not deny: $(cat "$home/said")"
step "an agent wants to run rm -rf ~, and is stopped"

new_user taut events --denied >"$home/said" 2>&1 || fail "taut events: $(cat "$home/said")"
grep -q 'rm-root' "$home/said" || fail "it is not in the record: $(cat "$home/said")"
step "taut events --denied"

total=$(ms "$begun" "$last")
printf '%6d ms  from nothing to the first stopped command (of %d s)\n' "$total" "$limit"
((total < limit * 1000)) || fail "it takes longer than a minute"
