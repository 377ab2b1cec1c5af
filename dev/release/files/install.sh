#!/bin/sh
# Installs taut @VERSION@ for this user: gets the archive for this machine, compares its checksum with the one below, and puts
# the program into ~/.local/bin, its manual pages and completions into ~/.local/share, where `man` and the shells look for them.
# It changes nothing else; `taut init` does the rest, and asks.
#   TAUT_INSTALL_DIR   another folder for the program; pages and completions go into the `share` beside a folder called `bin`
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
unpacked=$work/${archive%.tar.gz}
mkdir -p "$into"
# By a rename, so that a taut that runs goes on with the program it was started with.
cp "$unpacked/taut" "$into/taut.new"
chmod 755 "$into/taut.new"
mv -f "$into/taut.new" "$into/taut"

# Whatever keeps these from their places, the program is installed.
put() {
  mkdir -p "$share/${2%/*}" && cp "$unpacked/$1" "$share/$2"
}
places() {
  for page in "$unpacked"/man/*.1; do
    put "man/${page##*/}" "man/man1/${page##*/}" || return
  done
  put completions/taut.bash bash-completion/completions/taut &&
    put completions/_taut zsh/site-functions/_taut &&
    put completions/taut.fish fish/vendor_completions.d/taut.fish
}

echo "taut @VERSION@ is in $into"
case $into in
  */bin)
    share=${into%/bin}/share
    if places 2>/dev/null; then
      echo "its manual pages and completions are in $share"
    else
      echo "its manual pages and completions could not be put into $share; taut man and taut completions write them" >&2
    fi
    ;;
esac
case ":$PATH:" in
  *":$into:"*) echo "next: taut init" ;;
  *) echo "next: put $into on your PATH, then: taut init" ;;
esac
