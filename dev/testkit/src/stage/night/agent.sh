#!/bin/bash
# An agent without a model: each trouble of the night once, and otherwise the work.
notes=@NOTES@
note() { echo "$*" >> "$notes/log"; }
once() { mkdir "$notes/$1" 2> /dev/null; }
hook() { echo "{\"hook_event_name\":\"$1\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\",$2}" | taut hook --agent claude-code; }

task=$(night-step which)
printf '%s\n---\n' "$*" >> "$notes/prompt-$task"
note "begun $task"
if [ "$task" = b ] && once crashed; then note crashed; kill -9 $$; fi
if [ "$task" = c ] && once limited; then
  note limited
  echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$(($(date +%s) + 2))'}}'
  echo '{"type":"result","is_error":true,"api_error_status":429,"result":"limit"}'
  exit 1
fi
if [ "$task" = a ] && grep -q 'expected alpha' "$notes/prompt-a" && once full; then
  note 'the context is full'
  hook SessionStart '"source":"startup"' > /dev/null
  hook PreCompact '"trigger":"auto"' > /dev/null
  exit 1
fi
night-step
echo '{"type":"result","is_error":false,"total_cost_usd":0.05,"num_turns":1,"result":"finished '"$task"'"}'
