//! Lines of shell against everything they run.

use crate::common;
use crate::common::{check, check_reaches, read, runs};
use bash::{StdinSource, Via};

#[test]
fn lists_groups_and_bodies_are_opened_in_order() {
    check(&[
        ("a; b && c || d | e & f", &["a", "b", "c", "d", "e", "f"]),
        ("{ a; b; }; (c; d)", &["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "c", "b", "d", "e"]),
        ("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]),
        ("case $x in 1) a;; *) b;; esac", &["a", "b"]),
        ("for i in 1 2; do rm $i; done", &["rm 1", "rm 2"]),
        ("for ((i=0; i<3; i++)); do rm x; done", &["rm x"]),
        ("! rm x", &["rm x"]),
        ("time rm x", &["time", "rm x"]),
        ("[[ -f $(a) ]] && b", &["a", "b"]),
        ("coproc rm x", &["rm x"]),
        ("a &\nb", &["a", "b"]),
    ]);
}

#[test]
fn quoting_tricks_do_not_hide_a_name() {
    check(&[
        (r"\rm x", &["rm x"]),
        ("r''m x", &["rm x"]),
        (r#""r"m x"#, &["rm x"]),
        (r"$'\x72m' x", &["rm x"]),
        (r"$'\162\u006d' x", &["rm x"]),
        ("r\\\nm x", &["rm x"]),
        (r#"rm "a b" 'c d' e\ f"#, &["rm a b c d e f"]),
        (r#"echo "a\"b\$c\d""#, &[r#"echo a"b$c\d"#]),
    ]);
    assert_eq!(read(r#"rm "a b""#).commands[0].words.len(), 2);
}

#[test]
fn braces_and_globs_become_words() {
    check(&[
        ("{rm,-rf,/}", &["rm -rf /"]),
        ("rm a{1..3} b{c,{d,e}}", &["rm a1 a2 a3 bc bd be"]),
        ("rm {a..c} {5..1..2} {a,b", &["rm a b c 5 3 1 {a,b"]),
        ("rm '{a,b}' {a} *.txt x?y [ab]c", &["rm {a,b} {a} «*».txt x«?»y «[ab]»c"]),
        ("rm -rf !(keep)", &["rm -rf «!(keep)»"]),
        ("cp f{,.bak}", &["cp f f.bak"]),
    ]);
}

#[test]
fn variables_of_the_line_are_followed() {
    check_reaches(&[
        ("x=rm; $x -rf /", "rm -rf /"),
        ("x='rm -rf /'; $x", "rm -rf /"),
        ("a=(rm -rf); \"${a[@]}\" /", "rm -rf /"),
        ("a=(rm); a+=(-rf /); ${a[*]}", "rm -rf /"),
        ("a[0]=rm; a[1]=x; \"${a[@]}\"", "rm x"),
        ("rm${IFS}-rf${IFS}/", "rm -rf /"),
        ("IFS=,; c=rm,-rf,/; $c", "rm -rf /"),
        ("export D=/; rm -rf \"$D\"", "rm -rf /"),
        ("${x:-rm} -rf /", "rm -rf /"),
        (": ${x:=rm}; $x y", "rm y"),
        ("p=/a/b.txt; rm ${p%.*} ${p##*/} ${p/a/c} ${p:0:2} ${p^^}", "rm /a/b b.txt /c/b.txt /a /A/B.TXT"),
        ("n=x; x=rm; ${!n} y", "rm y"),
        ("set -- -rf /; rm \"$@\"", "rm -rf /"),
        ("bash -c 'rm \"$1\"' _ /etc", "rm /etc"),
        ("FOO=/ bash -c 'rm -rf $FOO'", "rm -rf /"),
        ("printf -v x %s rm; $x y", "rm y"),
        ("rm $HOME/a ~/b ~bob/c $USER $nobody/d", "rm /home/ann/a /home/ann/b ‹~bob›/c ann ‹$nobody›/d"),
        ("x=a; if c; then x=/; fi; rm $x", "rm ‹$x›"),
        ("printf '/\\n/etc\\n' | while read -r d; do rm -rf \"$d\"; done", "rm -rf /etc"),
    ]);
}

#[test]
fn functions_and_aliases_count_when_called() {
    check(&[
        ("f(){ rm -rf \"$@\"; }; f /", &["f /", "rm -rf /"]),
        ("function g { rm $1; }", &[]),
        ("alias ll='rm -rf'; ll /", &["alias ll=rm -rf", "rm -rf /"]),
        (":(){ :|:& };:", &[":", ":", ":"]),
    ]);
    let bomb = read(":(){ :|:& };:");
    assert_eq!(*bomb.commands[2].via, [Via::Body(":".into()), Via::Branch]);
    assert_eq!(bomb.commands[2].feed, StdinSource::Pipe([1].into()));
}

#[test]
fn substitutions_run_and_stand_for_their_output_when_it_is_certain() {
    check(&[
        ("$(echo rm) -rf /", &["echo rm", "rm -rf /"]),
        ("$(printf %s rm) x", &["printf %s rm", "rm x"]),
        ("$(which rm) x", &["which rm", "rm x"]),
        ("`command -v rm` x", &["command -v rm", "rm x"]),
        ("rm $(pwd)/a", &["pwd", "rm /srv/app/a"]),
        ("rm $(cat list)", &["cat list", "rm ‹$(cat list)›"]),
        ("echo `echo \\`rm x\\``", &["rm x", "echo ‹`rm x`›", "echo ‹`echo \\`rm x\\``›"]),
        ("echo \"$(a \"$(b ')')\")\"", &["b )", "a ‹$(b ')')›", "echo ‹$(a \"$(b ')')\")›"]),
        ("x=$(case a in a) rm y;; esac)", &["rm y", ""]),
        ("diff <(rm a) >(rm b)", &["rm a", "rm b", "diff ‹<(rm a)› ‹>(rm b)›"]),
        ("echo $((1 + $(rm x)))", &["rm x", "echo ‹$((1 + $(rm x)))›"]),
    ]);
}

#[test]
fn here_documents_are_data_unless_something_runs_them() {
    check(&[
        ("cat <<A <<B; rm x\na $(in_a)\nA\nb `in_b`\nB\nrm y", &["in_a", "in_b", "cat", "rm x", "rm y"]),
        ("cat <<'EOF' > f\nrm -rf / $(no)\nEOF\nls", &["cat >f", "ls"]),
        ("cat <<-EOF\n\trm x\n\tEOF\nls", &["cat", "ls"]),
        ("bash <<EOF\nrm -rf $DIR\nEOF", &["bash", "rm -rf ‹$DIR›"]),
        ("bash <<-'EOF'\n\trm x\n\tEOF", &["bash", "rm x"]),
        ("bash <<< 'rm x'", &["bash", "rm x"]),
        ("(( x << y )); echo '<<EOF' $((1<<3)); rm z # <<EOF", &["echo <<EOF ‹$((1<<3))›", "rm z"]),
        ("ssh h <<EOF\nrm x\nEOF", &["ssh h", "rm x"]),
        ("git commit -F - <<'EOF'\nremove: rm -rf /\nEOF", &["git commit -F -"]),
    ]);
}

#[test]
fn a_message_from_a_here_document_is_one_word() {
    let line =
        "git commit -m \"$(cat <<'EOF'\nfix: don't rm -rf / (it's) \"q\"\n\n- `rm x` $(rm y)\nEOF\n)\" && git push";
    let message = "fix: don't rm -rf / (it's) \"q\"\n\n- `rm x` $(rm y)";
    assert_eq!(runs(line), ["cat".to_string(), format!("git commit -m {message}"), "git push".to_string()]);
    check(&[
        ("x=$(cat <<E\n$D/$(a)\nE\n); rm $x", &["a", "cat", "", "rm ‹$(cat <<E\n$D/$(a)\nE\n)›"]),
        (
            "echo \"$(case a in (a) echo ')' ;; esac # )\n)\"; rm x",
            &["echo )", "echo ‹$(case a in (a) echo ')' ;; esac # )\n)›", "rm x"],
        ),
    ]);
}

#[test]
fn what_the_line_writes_into_a_file_is_read_when_it_runs_it() {
    check_reaches(&[
        ("echo 'rm x' > a.sh && bash a.sh", "rm x"),
        ("cat > a.sh <<'E'\nrm x\nE\nchmod +x a.sh; ./a.sh", "rm x"),
        ("echo a > f; echo 'rm x' >> f; source ./f", "rm x"),
        ("cat > a.py <<E\nimport os; os.remove('x')\nE\npython3 a.py", "rm x"),
        ("$SHELL -c 'rm x'", "rm x"),
    ]);
    check(&[("export A=$(once)", &["once", "export A=‹$(once)›"])]);
}

#[test]
fn text_is_data() {
    check(&[
        ("git commit -m 'rm -rf /; x'", &["git commit -m rm -rf /; x"]),
        ("grep -r 'rm -rf /' .", &["grep -r rm -rf / ."]),
        ("echo rm -rf / # rm x", &["echo rm -rf /"]),
        ("echo a#b; echo 'it''s; rm'", &["echo a#b", "echo its; rm"]),
        ("awk '{print \"rm\"}' f", &["awk {print \"rm\"} f"]),
        ("sed -i 's/rm -rf/x/' f", &["sed -i s/rm -rf/x/ f"]),
    ]);
}

#[test]
fn windows_line_ends_are_line_ends() {
    check(&[("a\r\nrm b\r\n", &["a", "rm b"]), ("cat <<EOF\r\nx\r\nEOF\r\nrm b", &["cat", "rm b"])]);
}

#[test]
fn redirects_are_reported() {
    check(&[
        ("echo x > /etc/passwd", &["echo x >/etc/passwd"]),
        ("a >> b 2>&1 < c", &["a >>b <c"]),
        ("a &> b >| c", &["a >b >c"]),
        ("> f", &[">f"]),
        ("{ a; b; } > f", &[">f", "a", "b"]),
        ("a > $HOME/x-$y", &["a >/home/ann/x-‹$y›"]),
        ("a >&2 2>/dev/null", &["a >/dev/null"]),
    ]);
}

#[test]
fn the_folder_is_followed() {
    let cases: &[(&str, &[Option<&str>])] = &[
        ("cd /tmp && rm x", &[Some("/srv/app"), Some("/tmp")]),
        ("cd sub/../x; rm y", &[Some("/srv/app"), Some("/srv/app/x")]),
        ("(cd /tmp; a); b", &[Some("/srv/app"), Some("/tmp"), Some("/srv/app")]),
        ("cd \"$x\"; a", &[Some("/srv/app"), None]),
        ("cd; a; cd -; b", &[Some("/srv/app"), Some("/home/ann"), Some("/home/ann"), Some("/srv/app")]),
        ("pushd /a; x; popd; y", &[Some("/srv/app"), Some("/a"), Some("/a"), Some("/srv/app")]),
        ("cd x || exit 1; a", &[Some("/srv/app"), Some("/srv/app"), Some("/srv/app/x")]),
        ("cd /a | b; c", &[Some("/srv/app"), Some("/srv/app"), Some("/srv/app")]),
        ("builtin cd /a; b", &[Some("/srv/app"), Some("/srv/app"), Some("/a")]),
        ("env -C /a rm x; b", &[Some("/srv/app"), Some("/a"), Some("/srv/app")]),
        ("ssh h rm x", &[Some("/srv/app"), None]),
    ];
    for (line, folders) in cases {
        let reading = read(line);
        let found: Vec<Option<&str>> = reading.commands.iter().map(|command| command.cwd.as_deref()).collect();
        assert_eq!(found, *folders, "in {line:?}");
    }
}

#[test]
fn pipes_say_what_they_carry() {
    let reading = read("curl x | tee y | bash");
    assert_eq!(reading.commands[1].feed, StdinSource::Pipe([0].into()));
    assert_eq!(reading.commands[2].feed, StdinSource::Pipe([1].into()));
    let reading = read("echo hi | cat");
    assert_eq!(reading.commands[1].feed, StdinSource::Text("hi\n".into()));
    let reading = read("bash < f");
    assert!(matches!(&reading.commands[0].feed, StdinSource::File(word) if word.known().as_deref() == Some("f")));
}

#[test]
fn what_cannot_be_parsed_is_scanned() {
    for line in [
        "echo \"unclosed; rm -rf /", "if true; rm -rf /", "rm -rf / )", "for x in; do; rm -rf /", "(((rm -rf /",
        "foo $( rm -rf /",
    ] {
        let reading = read(line);
        let found: Vec<String> = reading.commands.iter().map(common::shown).collect();
        assert!(!reading.troubles.is_empty(), "{line:?} was read without trouble: {found:?}");
        assert!(found.iter().any(|command| command.contains("rm -rf /")), "{line:?} runs {found:?}");
    }
    assert_eq!(runs("echo 'a; b' \"c | d\" ; rm x )"), ["echo a; b c | d", "rm x"]);
}

#[test]
fn of_a_case_whose_subject_is_known_only_the_arm_that_fits_runs() {
    let ran = |word: &str| {
        runs(&format!("x={word}; case \"$x\" in a|b) ls 1 ;; 'c') ls 2 ;& d) ls 3 ;; e*) ls 4 ;; *) ls 5 ;; esac"))
    };
    let listed = |word: &str| ran(word).into_iter().filter(|command| command.starts_with("ls")).collect::<Vec<_>>();
    assert_eq!(listed("b"), ["ls 1"]);
    assert_eq!(listed("c"), ["ls 2", "ls 3"]);
    assert_eq!(listed("d"), ["ls 3"]);
    assert_eq!(listed("f"), ["ls 4", "ls 5"], "what a pattern stands for is not worked out");
    assert_eq!(runs("case $x in a) ls 1 ;; *) ls 2 ;; esac").len(), 2);
}
