#!/bin/sh
# Installs taut @VERSION@ for this user: gets the archive for this machine, compares its checksum with the one below, and puts
# the program into ~/.local/bin. It changes nothing else; `taut init` does the rest, and asks.
#   TAUT_INSTALL_DIR   another folder for the program
#   TAUT_RELEASE_URL   another place that has the archive
set -eu

fail() {
  echo "error: $1; nothing was installed" >&2
  exit 1
}

case "$(uname -sm)" in
@CASES@
  *) fail "there is no build for $(uname -sm)" ;;
esac
from=${TAUT_RELEASE_URL:-@URL@}/$archive
into=${TAUT_INSTALL_DIR:-$HOME/.local/bin}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if command -v curl >/dev/null; then
  curl -fsSL -o "$work/archive" "$from" || fail "$from cannot be had"
elif command -v wget >/dev/null; then
  wget -q -O "$work/archive" "$from" || fail "$from cannot be had"
else
  fail "neither curl nor wget is here to get $from"
fi
if command -v sha256sum >/dev/null; then
  found=$(sha256sum "$work/archive")
else
  found=$(shasum -a 256 "$work/archive")
fi
[ "${found%% *}" = "$sum" ] || fail "$from is not the archive of taut @VERSION@: its checksum is ${found%% *}, not $sum"

tar -xzf "$work/archive" -C "$work"
mkdir -p "$into"
# By a rename, so that a taut that runs goes on with the program it was started with.
cp "$work/${archive%.tar.gz}/taut" "$into/taut.new"
chmod 755 "$into/taut.new"
mv -f "$into/taut.new" "$into/taut"

echo "taut @VERSION@ is in $into"
case ":$PATH:" in
  *":$into:"*) echo "next: taut init" ;;
  *) echo "next: put $into on your PATH, then: taut init" ;;
esac
