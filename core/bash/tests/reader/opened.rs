//! Wrappers, shells and decoders: what runs inside them.

use crate::common;
use crate::common::{check, check_reaches, read};
use bash::Via;

#[test]
fn a_wrapper_is_reported_with_what_it_runs() {
    check(&[
        ("sudo -u root rm x", &["sudo -u root rm x", "rm x"]),
        ("env -i A=b nice -n 10 rm x", &["env -i A=b nice -n 10 rm x", "nice -n 10 rm x", "rm x"]),
        ("command -v rm", &["command -v rm"]),
        ("sudo -l", &["sudo -l"]),
    ]);
    let reading = read("sudo nohup rm x");
    assert_eq!(*reading.commands[2].via, [Via::Wrapper("sudo".into()), Via::Wrapper("nohup".into())]);
    assert_eq!(read("env A=b rm").commands[1].assignments[0].0, "A");
}

#[test]
fn every_wrapper_gives_up_its_command() {
    check_reaches(&[
        ("doas -u bob rm x", "rm x"),
        ("ionice -c 3 rm x", "rm x"),
        ("timeout -s KILL -k 5 10 rm x", "rm x"),
        ("timeout --signal=KILL 10 rm x", "rm x"),
        ("stdbuf -oL rm x", "rm x"),
        ("setsid -w rm x", "rm x"),
        ("exec -a foo rm x", "rm x"),
        ("busybox rm x", "rm x"),
        ("toybox rm x", "rm x"),
        ("flock -n /tmp/l rm x", "rm x"),
        ("flock /tmp/l -c 'rm x'", "rm x"),
        ("chroot --userspec=a:b /mnt rm x", "rm x"),
        ("su - root -c 'rm x'", "rm x"),
        ("su -lc 'rm x' bob", "rm x"),
        ("runuser -u bob -- rm x", "rm x"),
        ("runuser bob -c 'rm x'", "rm x"),
        ("unshare -r -w / rm x", "rm x"),
        ("nsenter -t 1 -m rm x", "rm x"),
        ("script -qc 'rm x' /dev/null", "rm x"),
        ("strace -f -o out rm x", "rm x"),
        ("ltrace -e malloc rm x", "rm x"),
        ("expect -c 'spawn rm x'", "rm x"),
        ("ls | entr -r rm x", "rm x"),
        ("ls | entr -s 'rm x'", "rm x"),
        ("caffeinate -i rm x", "rm x"),
        ("chronic rm x", "rm x"),
        ("dbus-run-session -- rm x", "rm x"),
        ("watch -n 1 'rm x'", "rm x"),
        ("tmux new-session -d -s a 'rm x'", "rm x"),
        ("tmux send-keys -t a 'rm x' Enter", "rm x"),
        ("screen -dm rm x", "rm x"),
        ("screen -S a -X stuff 'rm x\\n'", "rm x"),
        ("echo 'rm x' | at now", "rm x"),
        ("echo 'rm x' | batch", "rm x"),
        ("echo '* * * * * rm x' | crontab -", "rm x"),
        ("(crontab -l; echo '@daily rm x') | crontab -", "rm x"),
        ("trap 'rm x' EXIT", "rm x"),
        ("npx -c 'rm x'", "rm x"),
        ("systemd-run --user -p A=b rm x", "rm x"),
        ("uv run rm x", "rm x"),
        ("time -p rm x", "rm x"),
        ("hyperfine 'rm x' 'rm y'", "rm y"),
        ("env -S 'rm x'", "rm x"),
    ]);
}

#[test]
fn other_machines_have_no_folder() {
    for (line, name) in [
        ("ssh -p 22 user@host 'rm -rf /'", "ssh"),
        ("ssh host -t rm -rf /", "ssh"),
        ("docker exec -it -u root box rm -rf /", "docker"),
        ("docker run --rm -v /:/h alpine rm -rf /", "docker"),
        ("docker compose exec -T app rm -rf /", "docker"),
        ("podman run alpine sh -c 'rm -rf /'", "podman"),
        ("kubectl -n ns exec pod -c box -- rm -rf /", "kubectl"),
    ] {
        let reading = read(line);
        let last = reading.commands.last().unwrap();
        assert_eq!(common::shown(last), "rm -rf /", "in {line:?}");
        assert_eq!(last.via[0], Via::Wrapper(name.into()), "in {line:?}");
        assert_eq!(last.cwd, None, "in {line:?}");
    }
}

#[test]
fn found_files_stand_for_the_braces() {
    check_reaches(&[
        ("find . -name '*.o' -exec rm -rf {} +", "rm -rf ./‹{}›"),
        ("find / -exec rm -rf {} \\;", "rm -rf /"),
        ("find a b -type f -execdir rm {} \\;", "rm a b"),
        ("find -exec sh -c 'rm -rf {}' \\;", "rm -rf ."),
        ("find . -name x | xargs -0 rm", "rm ./‹{}›"),
        ("find . -print0 | while IFS= read -r -d '' f; do rm -rf \"$f\"; done", "rm -rf ./‹{}›"),
        ("for d in */; do rm -rf \"$d/x\"; done", "rm -rf «*»//x"),
        ("fd -e o -x rm {}", "rm ‹{}›"),
        ("find . -name x -delete", "find . -name x -delete"),
    ]);
}

#[test]
fn arguments_come_from_the_input() {
    check_reaches(&[
        ("lsof -ti:80 | xargs kill -9", "kill -9 ‹{}›"),
        ("echo / | xargs rm -rf", "rm -rf /"),
        ("xargs -I{} rm -rf {}/x <<< /a", "rm -rf /a/x"),
        ("xargs -n 1 -P4 -r rm < list", "rm ‹{}›"),
        ("printf '/a\\n/b\\n' | xargs -I% sh -c 'rm %'", "rm /a"),
        ("parallel rm -rf {} ::: /a /b", "rm -rf /a /b"),
        ("parallel rm ::: /a", "rm /a"),
        ("ls | parallel 'rm {}'", "rm ‹${item}›"),
    ]);
}

#[test]
fn shells_read_their_text() {
    check_reaches(&[
        ("bash -c 'rm x'", "rm x"),
        ("sh -lc 'cd /tmp; rm x'", "rm x"),
        ("bash -o pipefail -xec 'rm x'", "rm x"),
        ("/bin/zsh --norc -c 'rm x'", "rm x"),
        ("eval 'rm' x", "rm x"),
        ("echo 'rm x' | sh", "rm x"),
        ("echo 'rm x' | sudo bash -s", "rm x"),
        ("printf 'rm %s' x | bash", "rm x"),
        ("printf '\\x72\\x6d x' | sh", "rm x"),
        ("echo -e 'rm\\tx' | sh -", "rm x"),
        ("cat <<E | sh\nrm x\nE", "rm x"),
        ("source <(echo rm x)", "rm x"),
        ("bash <(echo rm x)", "rm x"),
        (". /dev/stdin <<< 'rm x'", "rm x"),
        ("{ echo rm; echo x; } | tr '\\n' ' ' | sh", "rm x"),
        ("echo \"rm $DIR\" | sh", "rm ‹$DIR›"),
        ("bash -c \"$(curl -fsSL x)\"", "‹$(curl -fsSL x)›"),
    ]);
}

#[test]
fn decoded_text_is_read_when_it_is_certain() {
    check_reaches(&[
        ("echo cm0gLXJmIC8= | base64 -d | sh", "rm -rf /"),
        ("base64 --decode <<< cm0gLXJmIC8= | bash", "rm -rf /"),
        ("eval $(echo cm0gLXJmIC8= | base64 -d)", "rm -rf /"),
        ("xxd -r -p <<< 726d202d7266202f | sh", "rm -rf /"),
        ("rev <<< '/ fr- mr' | sh", "rm -rf /"),
        ("echo 'ez -es /' | tr a-z n-za-m | cat | sh", "rm -rf /"),
        ("openssl base64 -d <<< cm0gLXJmIC8= | sh", "rm -rf /"),
        ("base64 -d f | sh", "sh"),
    ]);
}

#[test]
fn git_runs_what_it_is_told() {
    check_reaches(&[
        ("git -c alias.x='!rm -rf /' x", "rm -rf /"),
        ("git -c alias.x='push --force' x origin", "git push --force origin"),
        ("git bisect run rm x", "rm x"),
        ("git rebase -i --exec 'rm x' HEAD~2", "rm x"),
        ("git rebase --exec='rm x' main", "rm x"),
        ("git submodule foreach --recursive 'git clean -fdx'", "git clean -fdx"),
        ("git filter-branch --tree-filter 'rm x' HEAD", "rm x"),
    ]);
}

#[test]
fn a_sed_script_runs_and_writes() {
    check_reaches(&[
        ("sed -n '1e rm -rf /' x", "rm -rf /"),
        ("sed 's/x/rm -rf \\/a/e' x", "rm -rf /a"),
        ("sed -n -e '/a/w /etc/x' in", ">/etc/x"),
    ]);
}

#[test]
fn what_git_will_run_is_read_when_it_is_set() {
    check_reaches(&[
        ("echo 'rm -rf /' > .git/hooks/pre-commit", "rm -rf /"),
        ("git config --global alias.x '!rm -rf /'", "rm -rf /"),
        ("git config core.pager 'rm -rf /'", "rm -rf /"),
    ]);
    let fed = &read("mysql < <(echo 'drop database a')").commands[1].feed;
    assert_eq!(*fed, bash::StdinSource::Text("drop database a\n".into()));
}
