//! What carries a command for another program to run: options, variables, escapes, other machines and languages.

use crate::common::{check_reaches, runs};

#[test]
fn g1_the_old_spellings_of_xargs_and_its_kin_put_items_into_the_command() {
    check_reaches(&[
        ("echo / | xargs -i rm -rf {}", "rm -rf /"),
        ("echo / | xargs -iX sh -c 'rm -rf X'", "rm -rf /"),
        ("echo / | xargs --replace rm -rf {}", "rm -rf /"),
        ("echo / | rush 'rm -rf {}'", "rm -rf /"),
        ("echo 'rm -rf /' | parallel --pipe bash", "rm -rf /"),
    ]);
}

#[test]
fn g1_a_command_behind_a_mark_or_an_environment_of_nothing_is_found() {
    check_reaches(&[
        ("env - PATH=/bin rm x", "rm x"),
        ("mise exec node@20 -- rm x", "rm x"),
        ("nix shell nixpkgs#coreutils -c rm x", "rm x"),
        ("pnpm -r exec rm x", "rm x"),
        ("bwrap --dev-bind / / --proc /proc bash -c 'rm x'", "rm x"),
        ("perf stat -r 3 rm x", "rm x"),
        ("npx --yes rimraf@5 x", "rimraf x"),
        ("bash5 -c 'rm x'", "rm x"),
        ("$0 -c 'rm x'", "rm x"),
        ("/bin/[s]h -c 'rm x'", "rm x"),
        ("hash -p /bin/rm ls; ls x", "/bin/rm x"),
        ("=rm x", "rm x"),
        ("! ! rm x", "rm x"),
        ("cmd.exe /c \"rd /s /q C:\\\\\"", "rm -rf /"),
        ("wsl -d Ubuntu -- rm x", "rm x"),
    ]);
}

#[test]
fn g1_a_variable_or_an_option_that_holds_a_command_is_read() {
    check_reaches(&[
        ("PROMPT_COMMAND='rm x'", "rm x"),
        ("export GIT_EDITOR='rm x'; git commit", "rm x"),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='rm x' git log", "rm x"),
        ("PS4='$(rm x)' bash -x run.sh", "rm x"),
        ("ssh -o ProxyCommand='rm x' host", "rm x"),
        ("rsync -e 'sh -c \"rm x\"' a host:b", "rm x"),
        ("tar -I 'rm x' -cf a.tar b", "rm x"),
        ("make --eval='$(shell rm x)'", "rm x"),
        ("make SHELL='rm x'", "rm x"),
        ("gdb -batch -ex 'shell rm x'", "rm x"),
        ("vim +'!rm x' a", "rm x"),
        ("psql -c '\\! rm x'", "rm x"),
        ("ed <<< '!rm x'", "rm x"),
        ("adb shell rm x", "rm x"),
        ("mapfile -C 'rm x' -c 1 y < z", "rm x"),
        ("echo ${y[$(rm x)]}", "rm x"),
    ]);
    assert_eq!(runs("PAGER=less man ls"), ["man ls", "less"]);
}

#[test]
fn g1_one_liners_of_rarer_languages_become_commands() {
    check_reaches(&[
        ("Rscript -e 'unlink(\"~/x\", recursive = TRUE)'", "rm -rf /home/ann/x"),
        ("julia -e 'rm(\"/\", recursive=true)'", "rm -rf /"),
        ("elixir -e 'File.rm_rf!(\"/\")'", "rm -rf /"),
        ("erl -noshell -eval 'os:cmd(\"rm x\"), halt().'", "rm x"),
        ("kotlin -e 'java.io.File(\"/\").deleteRecursively()'", "rm -rf ‹File›"),
        ("racket -e '(system \"rm x\")'", "rm x"),
        ("emacs --batch --eval '(delete-directory \"/\" t)'", "rm -rf /"),
        ("echo 'file delete -force /' | tclsh", "rm -rf /"),
        ("python3 -c \"from subprocess import *; call('rm x', shell=True)\"", "rm x"),
    ]);
}
