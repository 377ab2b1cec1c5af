#!/bin/sh
# The first hooks of a session come here: the program of this machine is put into the plugin's data folder, where all other
# hooks find it, and then runs. The Bash tool finds `taut` here too.
root=${0%/*}/..
case "$(uname -sm)" in
  "Linux x86_64") native=$root/native/linux-x64/taut ;;
  "Linux aarch64") native=$root/native/linux-arm64/taut ;;
  "Darwin arm64") native=$root/native/darwin-arm64/taut ;;
  "Darwin x86_64") native=$root/native/darwin-x64/taut ;;
  *) native= ;;
esac
if ! [ -x "$native" ]; then
  echo "taut: this plugin has no program for $(uname -sm), so nothing is guarded; build taut from source and run taut init" >&2
  exit 1
fi
data=${CLAUDE_PLUGIN_DATA:-}
if [ -n "$data" ] && ! [ "$data/taut" -ef "$native" ] && ! cmp -s "$data/taut" "$native"; then
  new=$data/taut.$$
  mkdir -p "$data" && { ln -f "$native" "$new" || cp "$native" "$new"; } && mv -f "$new" "$data/taut"
fi 2>/dev/null
exec "$native" "$@"
