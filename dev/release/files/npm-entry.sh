#!/bin/sh
# Becomes the program of the package for this machine, wherever the package manager has put that.
self=$0
while [ -L "$self" ]; do
  to=$(readlink "$self")
  case $to in /*) self=$to ;; *) self=${self%/*}/$to ;; esac
done
case "$(uname -sm)" in
  "Linux x86_64") native=taut-cli-linux-x64 ;;
  "Linux aarch64") native=taut-cli-linux-arm64 ;;
  "Darwin arm64") native=taut-cli-darwin-arm64 ;;
  "Darwin x86_64") native=taut-cli-darwin-x64 ;;
  *) echo "taut: there is no package for $(uname -sm); build it from source" >&2; exit 1 ;;
esac
package=${self%/*}/..
for folder in "$package/node_modules" "$package/.."; do
  [ -x "$folder/$native/bin/taut" ] && exec "$folder/$native/bin/taut" "$@"
done
echo "taut: $native is not there, since optional dependencies were left out; install again: npm install -g --include=optional taut-cli" >&2
exit 1
