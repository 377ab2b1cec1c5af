# Keeps one server for a test. What it is to do comes as words on its input; when that ends, in whatever way the test
# did, the server is stopped and its folder removed.
# $1: the folder. The rest: the command that is the server.
folder=$1
shift
server=
stop() {
  if [ -n "$server" ]; then
    kill -s "$1" "$server" 2>/dev/null
    # A server that was stopped by SIGSTOP hears nothing else.
    kill -s CONT "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    server=
  fi
}
while read -r word; do
  case $word in
    start)
      "$@" </dev/null >>"$folder/log" 2>&1 &
      server=$!
      echo "$server"
      ;;
    fast) stop INT; echo stopped ;;
    immediate) stop QUIT; echo stopped ;;
  esac
done
stop QUIT
rm -rf "$folder"
