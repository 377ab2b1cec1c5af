#!/bin/bash
# Does the work of the task in hand, as often as it is asked to: what is there already is not done again.
# With `which` it only says the task.
notes=@NOTES@
note() { echo "$*" >> "$notes/log"; }

held() { taut task list --status active --json | grep "\"assignee\":\"$TAUT_AGENT_ID\"" | sed 's/.*"id":"\([^"]*\)".*/\1/' | head -n 1; }
task=$(held)
[ -n "$task" ] || { taut task claim > /dev/null 2>> "$notes/refused"; task=$(held); }
[ -n "$task" ] || { note 'nothing to do'; exit 0; }
if [ "$1" = which ]; then echo "$task"; exit 0; fi

# What a killed git left locked: nobody else is at work in this tree.
rm -f "$(git rev-parse --git-path index.lock)" "$(git rev-parse --git-path HEAD.lock)" \
  "$(git rev-parse --git-common-dir)/$(git symbolic-ref -q HEAD).lock"
commit() { git add -A; git diff --cached --quiet || git commit -qm "$1"; }

case $task in
a)
  grep -qx a list.txt || echo a >> list.txt
  # Right only when it was told what was wrong.
  if taut task history a --json | grep -q 'expected alpha'; then
    note 'a was told'; echo alpha > a.txt; commit 'mend a'
  else
    echo alhpa > a.txt; commit 'work a'
  fi
  ;;
b | c)
  touch "$notes/begun-$task"
  # Both begin before one of them is merged, so that there is a conflict.
  if [ @WORKERS@ -gt 1 ]; then
    for _ in $(seq 400); do [ -e "$notes/begun-b" ] && [ -e "$notes/begun-c" ] && break; sleep 0.05; done
  fi
  grep -qx "$task" list.txt || echo "$task" >> list.txt
  commit "work $task"
  ;;
merge-*)
  note "conflict $task"
  # Whoever left it may have begun already.
  [ -n "$(git ls-files --unmerged)" ] || git merge --no-edit main > "$notes/merge" 2>&1 || true
  sed -i '/^[<=>|]\{7\}/d' list.txt
  git add -A
  if [ -d "$(git rev-parse --git-path rebase-merge)" ]; then GIT_EDITOR=true git rebase --continue > /dev/null
  else git commit -qm "both of $task" || true; fi
  ;;
esac
note "finished $task"
taut task done "$task"
