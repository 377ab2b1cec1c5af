//! Hostile command lines in any length, for benchmarks, tests and fuzzing: what a reader could spend more on than its share.

use std::fmt::Write;

/// One way to make a line long.
#[derive(Debug, Clone, Copy)]
pub struct HostileFamily {
    pub name: &'static str,
    /// A line of about that many bytes.
    pub line: fn(usize) -> String,
    /// Whether a statement may stand on a line of its own behind it; false where something stays open.
    pub closed: bool,
}

const fn closed(name: &'static str, line: fn(usize) -> String) -> HostileFamily {
    HostileFamily { name, line, closed: true }
}

const fn open(name: &'static str, line: fn(usize) -> String) -> HostileFamily {
    HostileFamily { name, line, closed: false }
}

pub const FAMILIES: &[HostileFamily] = &[
    closed("cd into a deep folder, then many names", |size| {
        let names = fill(size / 2, |at| format!(" x{at}"));
        format!("cd {}; rm -rf{names}; rm -rf /", "a/".repeat(size / 4))
    }),
    closed("cd into a deep folder, then many commands", |size| {
        format!("cd {};{}", "a/".repeat(size / 4), fill(size / 2, |at| format!(" rm x{at};")))
    }),
    closed("cd again and again", |size| fill(size, |at| format!("cd d{at}; rm -rf x; "))),
    closed("cd up and down", |size| {
        format!("cd {};{}", "a/".repeat(size / 4), "cd ../a; rm -rf ../../b;".repeat(size / 48))
    }),
    closed("removals", |size| fill(size, |at| format!("rm -rf src{at};"))),
    closed("removals of one tree", |size| "rm -rf src;".repeat(size / 11)),
    closed("removals of system files", |size| fill(size, |at| format!("rm /etc/x{at};"))),
    closed("one removal of many names", |size| format!("rm -rf{}", fill(size, |at| format!(" s{at}")))),
    closed("one removal of many home names", |size| format!("rm -rf{}", fill(size, |at| format!(" ~/s{at}")))),
    closed("short commands", |size| "a;".repeat(size / 2)),
    closed("short words", |size| format!("a{}", " b".repeat(size / 2))),
    closed("ordinary commands", |size| {
        "git add src/main.rs && grep -rn 'rm -rf' docs | head -5; echo \"done $HOME\" > out.log\n".repeat(size / 84)
    }),
    closed("folders made and removed", |size| fill(size, |at| format!("mkdir d{at}; rm -rf d{at};"))),
    closed("copies and removals", |size| fill(size, |at| format!("cp -r a{at} b{at}; rm -rf b{at};"))),
    closed("one pipe", |size| format!("a{}", "|b".repeat(size / 2))),
    closed("one pipe of downloads", |size| format!("curl x{}", "|curl -d@- y".repeat(size / 13))),
    closed("one pipe of shells", |size| format!("curl x{}", "|sh".repeat(size / 3))),
    closed("one pipe of cats", |size| format!("echo x{}", "|cat".repeat(size / 4))),
    closed("one pipe of decoders", |size| format!("echo cm0=|base64 -d{}", "|rev|sh".repeat(size / 7))),
    closed("a group piped into a group", |size| {
        format!("{{ {} }} | {{ {} }}", "a;".repeat(size / 4), "b;".repeat(size / 4))
    }),
    closed("a group piped into shells", |size| {
        format!("{{ {} }} | {{ {} }}", "curl a;".repeat(size / 14), "sh;".repeat(size / 6))
    }),
    closed("text piped into a group", |size| {
        format!("echo {} | {{ {} }}", "x".repeat(size / 2), "b;".repeat(size / 4))
    }),
    closed("text piped into shells", |size| {
        format!("echo {} | {{ {} }}", "x;".repeat(size / 4), "sh;".repeat(size / 6))
    }),
    closed("an and chain", |size| format!("a{}", "&&a".repeat(size / 3))),
    closed("an or chain", |size| format!("a{}", "||a".repeat(size / 3))),
    closed("an or chain of assignments", |size| fill(size, |at| format!("x{at}=1 || y{at}=2;"))),
    closed("background jobs", |size| "a&".repeat(size / 2)),
    closed("background jobs with variables", |size| {
        fill(size / 2, |at| format!("v{at}=1;")) + &"w=2 & ".repeat(size / 12)
    }),
    closed("nested substitutions", |size| nested("$(", "a", ")", size)),
    closed("nested quoted substitutions", |size| format!("echo {}", nested("\"$(", "a", ")\"", size))),
    closed("nested echoes", |size| nested("$(echo ", "a", ")", size)),
    closed("substitutions in a row", |size| format!("echo{}", " $(a)".repeat(size / 5))),
    closed("substitutions into variables", |size| fill(size, |at| format!("x{at}=$(echo {at}); "))),
    closed("functions and stores", |size| format!("f() {{ a; }}; f;{}", "gh auth token | gh x;".repeat(size / 21))),
    closed("substitutions with variables", |size| {
        fill(size / 2, |at| format!("v{at}=1;")) + &"$(w=2);".repeat(size / 14)
    }),
    closed("removals of substitutions", |size| format!("rm -rf{}", " $(find a)".repeat(size / 10))),
    closed("kills of substitutions", |size| format!("kill{}", " $(a b)".repeat(size / 7))),
    closed("a removal of one long substitution", |size| format!("rm -rf $({})", "a;".repeat(size / 2))),
    closed("evaluations of a long substitution", |size| format!("eval \"$({})\"", "a;".repeat(size / 2))),
    closed("nested backquotes", |size| nested("`", "a", "`", size)),
    closed("backquotes in a row", |size| format!("echo{}", " `a`".repeat(size / 4))),
    closed("backslashed backquotes", |size| format!("echo `{}`", "\\`a\\` ".repeat(size / 6))),
    closed("nested process substitutions", |size| format!("cat {}", nested("<(", "a", ")", size))),
    closed("process substitutions in a row", |size| format!("cat{}", " <(a)".repeat(size / 5))),
    closed("nested parameters", |size| format!("echo {}", nested("${x:-", "a", "}", size))),
    closed("parameters in a row", |size| format!("x=abc; echo{}", " ${x#a}".repeat(size / 7))),
    closed("patterns on a long value", |size| {
        format!("x={}; echo{}", "ab".repeat(size / 4), " ${x##*b*b*c}".repeat(size / 26))
    }),
    closed("a long pattern on a long value", |size| {
        format!("x={}; echo ${{x##{}c}}", "a".repeat(size / 2), "*a".repeat(size / 4))
    }),
    closed("replacements in a long value", |size| {
        format!("x={}; echo{}", "ab".repeat(size / 4), " ${x//a/bb}".repeat(size / 22))
    }),
    closed("slices of a long value", |size| {
        format!("x={}; echo{}", "ab".repeat(size / 4), " ${x:1:2}".repeat(size / 18))
    }),
    closed("lengths of a long value", |size| format!("x={};{}", "ab".repeat(size / 4), "y=${#x};".repeat(size / 16))),
    closed("uses of a long value", |size| format!("x={};{}", "ab".repeat(size / 4), " a $x;".repeat(size / 12))),
    closed("doubled values", |size| fill(size, |at| format!("a{}=$a{at}$a{at};", at + 1)).replacen("$a0$a0", "x", 1)),
    closed("a value that grows", |size| "x=${x}a;".repeat(size / 8)),
    closed("a value added to", |size| "x+=a;".repeat(size / 5)),
    closed("assignments", |size| fill(size, |at| format!("v{at}={at};"))),
    closed("assignments from the one before", |size| fill(size, |at| format!("v{}=$v{at};", at + 1))),
    closed("assignments before one command", |size| fill(size, |at| format!("V{at}={at} ")) + "cmd"),
    closed("assignments before many commands", |size| {
        fill(size / 2, |at| format!("v{at}={at};")) + &"w=1 sudo x;".repeat(size / 22)
    }),
    closed("exports", |size| format!("export{}", fill(size, |at| format!(" v{at}={at}")))),
    closed("an array", |size| format!("x=({}); rm \"${{x[@]}}\"", fill(size, |at| format!(" e{at}")))),
    closed("uses of an array", |size| format!("x=({});{}", " e".repeat(size / 4), " a \"${x[@]}\";".repeat(size / 26))),
    closed("elements of an array", |size| fill(size, |at| format!("x[{}]=1;", at % 250))),
    closed("an array added to", |size| "x+=(e);".repeat(size / 7)),
    closed("positional parameters", |size| {
        format!("set --{};{}", " e".repeat(size / 4), " a \"$@\";".repeat(size / 16))
    }),
    closed("shifts", |size| format!("set --{};{}", " e".repeat(size / 4), "shift;".repeat(size / 12))),
    closed("functions in a function", |size| {
        format!("f() {{ g() {{ {} }}; }};{}", "a;".repeat(size / 4), "f;".repeat(size / 4))
    }),
    closed("functions", |size| fill(size, |at| format!("f{at}() {{ a; }};"))),
    closed("functions that call the one before", |size| {
        fill(size, |at| format!("f{}() {{ f{at}; f{at}; }};", at + 1)) + "f9"
    }),
    closed("calls of a long function", |size| format!("f() {{ {} }};{}", "a;".repeat(size / 4), "f;".repeat(size / 4))),
    closed("functions that call themselves", |size| fill(size, |at| format!("f{at}(){{ f{at}|f{at}& }};f{at};"))),
    closed("a function of a long name", |size| {
        let name = "n".repeat(size / 3);
        format!("{name}() {{ {} }}; {name}", "a;".repeat(size / 6))
    }),
    closed("uses of an alias", |size| format!("alias l='{}'\n{}", "a b ".repeat(size / 8), "l\n".repeat(size / 4))),
    closed("aliases", |size| fill(size, |at| format!("alias l{at}=a\nl{at}\n"))),
    closed("a loop over many words", |size| format!("for x in{}; do a $x; done", " w".repeat(size / 2))),
    closed("a loop over a long body", |size| format!("for x in {{1..200}}; do {} done", "a $x;".repeat(size / 5))),
    closed("loops", |size| "for x in 1 2 3; do a $x; done;".repeat(size / 30)),
    closed("nested loops", |size| nested("for a in 1 2; do ", "x", "; done", size)),
    closed("loops over lines", |size| {
        format!("printf '{}' | while read l; do {} done", "a\\n".repeat(size / 6), "b $l;".repeat(size / 10))
    }),
    closed("while loops", |size| "while a; do b; done;".repeat(size / 20)),
    closed("branches", |size| "if a; then b; else c; fi;".repeat(size / 25)),
    closed("branches with variables", |size| {
        fill(size / 2, |at| format!("v{at}=1;")) + &"if a; then w=2; fi;".repeat(size / 38)
    }),
    closed("branches that assign", |size| fill(size, |at| format!("if a; then v{at}=2; fi;"))),
    closed("one long branch", |size| format!("if a; then b;{} fi", "elif c; then d;".repeat(size / 15))),
    closed("nested branches", |size| nested("if a; then ", "b", "; fi", size)),
    closed("cases", |size| "case x in a) b;; esac;".repeat(size / 22)),
    closed("one long case", |size| format!("case x in {} esac", "a) b;; ".repeat(size / 7))),
    closed("nested cases", |size| nested("case x in a) ", "b", ";; esac", size)),
    closed("arithmetic", |size| "((x=x+1));".repeat(size / 10)),
    closed("nested arithmetic", |size| format!("echo {}", nested("$((1+", "1", "))", size))),
    closed("long arithmetic", |size| format!("echo $((1{}))", "+1".repeat(size / 2))),
    closed("double parentheses that are none", |size| format!("echo{}", " $((a) )".repeat(size / 8))),
    closed("subshells", |size| "(a);".repeat(size / 4)),
    closed("nested subshells", |size| nested("(", "a", ")", size)),
    closed("nested groups", |size| nested("{ ", "a", "; }", size)),
    closed("tests", |size| "[[ -f a && -d b ]];".repeat(size / 19)),
    closed("one long test", |size| format!("[[ a{} ]]", " && b".repeat(size / 5))),
    closed("brace words", |size| format!("rm{}", " {a,b}".repeat(size / 6))),
    closed("one long brace word", |size| format!("rm {{a{}}}", ",b".repeat(size / 2))),
    closed("brace words side by side", |size| format!("rm {}", "{a,b}".repeat(size / 5))),
    closed("nested brace words", |size| format!("rm {}", nested("{a,", "b", "}", size))),
    closed("braces that never close", |size| format!("rm {}", "{a,".repeat(size / 3))),
    closed("sequences", |size| format!("rm{}", " {1..99}".repeat(size / 8))),
    closed("stars", |size| format!("rm -rf {}", "*a".repeat(size / 2))),
    closed("words of stars", |size| format!("rm -rf{}", " */*".repeat(size / 4))),
    closed("open sets", |size| format!("rm -rf {}", "[".repeat(size))),
    closed("question marks", |size| format!("ls {}", "?".repeat(size))),
    closed("climbing paths", |size| format!("rm -rf {}", "../".repeat(size / 3))),
    closed("paths that go nowhere", |size| format!("rm -rf {}x", "a/../".repeat(size / 5))),
    closed("words of climbing paths", |size| format!("rm -rf{}", " ../../a".repeat(size / 8))),
    closed("one long word", |size| format!("rm -rf {}", "a".repeat(size))),
    closed("one long program", |size| "a".repeat(size)),
    closed("redirects of one command", |size| format!("a{}", fill(size, |at| format!(" >f{at}")))),
    closed("redirects of commands", |size| fill(size, |at| format!("a >f{at};"))),
    closed("commands with a long redirect", |size| {
        format!("{{ {} }} < {}", "a;".repeat(size / 4), "f".repeat(size / 2))
    }),
    closed("files written and run", |size| fill(size, |at| format!("echo a >f{at}; sh f{at};"))),
    closed("one file added to", |size| "echo a >>f;".repeat(size / 11)),
    closed("one long file run again and again", |size| {
        format!("echo '{}' >f;{}", "a;".repeat(size / 4), "sh f;".repeat(size / 10))
    }),
    closed("a file copied on", |size| {
        format!("echo '{}' >f0;", "a;".repeat(size / 4)) + &fill(size / 2, |at| format!("cp f{at} f{};", at + 1))
    }),
    closed("here-documents", |size| "cat <<E\na\nE\n".repeat(size / 12)),
    closed("one long here-document", |size| format!("cat <<E\n{}E\n", "some words and $x\n".repeat(size / 18))),
    closed("one long quoted here-document", |size| {
        format!("cat <<'E'\n{}E\n", "rm -rf / is prose\n".repeat(size / 18))
    }),
    closed("here-documents of one command", |size| {
        let count = size / 12;
        format!("cat{}\n{}", " <<E".repeat(count), "a\nE\n".repeat(count))
    }),
    open("here-documents that never end", |size| "cat <<E\n".repeat(size / 8)),
    closed("a here-document for a shell", |size| format!("sh <<'E'\n{}E\n", "rm -rf x\n".repeat(size / 9))),
    closed("here-strings", |size| "cat <<<a;".repeat(size / 9)),
    closed("nested here-documents", |size| {
        let levels = size / 20;
        let mut out = String::new();
        for at in 0..levels {
            let _ = writeln!(out, "sh <<'E{at}'");
        }
        out.push_str("a\n");
        for at in (0..levels).rev() {
            let _ = writeln!(out, "E{at}");
        }
        out
    }),
    closed("texts of shells", |size| "bash -c 'a b';".repeat(size / 14)),
    closed("one text of a shell", |size| format!("bash -c '{}'", "a;".repeat(size / 2))),
    closed("a text through many shells", |size| format!("{}'{}'", "bash -c ".repeat(4), "a;".repeat(size / 2))),
    closed("escaped texts of shells", |size| {
        let mut line = "a".to_string();
        while line.len() < size {
            line = format!("bash -c {}", quoted(&line));
        }
        line
    }),
    closed("evaluations", |size| "eval a b;".repeat(size / 9)),
    closed("one evaluation", |size| format!("eval {}", "a b ".repeat(size / 4))),
    closed("wrappers in each other", |size| "sudo env nice ".repeat(size / 14) + "rm -rf x"),
    closed("one wrapper of many words", |size| format!("sudo env nice nohup timeout 5 a{}", " b".repeat(size / 2))),
    closed("wrappers", |size| "sudo rm x;".repeat(size / 10)),
    closed("wrappers of assignments", |size| format!("env{} sh", fill(size, |at| format!(" V{at}={at}")))),
    closed("env -S", |size| format!("env -S '{}'", "a b ".repeat(size / 4))),
    closed("env -S in a row", |size| "env -S 'rm x';".repeat(size / 14)),
    closed("xargs", |size| "ls | xargs rm;".repeat(size / 14)),
    closed("xargs with known items", |size| format!("echo {} | xargs rm", "a ".repeat(size / 2))),
    closed("xargs that replaces", |size| {
        format!("echo {} | xargs -I{{}} a{}", "b ".repeat(size / 4), " {}x{}".repeat(size / 12))
    }),
    closed("xargs after a long find", |size| {
        format!("find{} | xargs{}", fill(size / 2, |at| format!(" d{at}")), " rm {}".repeat(size / 12))
    }),
    closed("parallel", |size| format!("parallel rm {{}} :::{}", fill(size, |at| format!(" a{at}")))),
    closed("find -exec", |size| format!("find .{}", " -exec rm {} ;".replace(';', "\\;").repeat(size / 15))),
    closed("find with many roots and names", |size| {
        let roots = fill(size / 2, |at| format!(" d{at}"));
        format!("find{roots}{} -delete", fill(size / 2, |at| format!(" -name n{at}")))
    }),
    closed("find with many roots and commands", |size| {
        let roots = fill(size / 2, |at| format!(" d{at}"));
        format!("find{roots}{}", " -exec rm {} +".repeat(size / 28))
    }),
    closed("find with texts", |size| format!("find .{}", " -exec sh -c 'rm $1' _ {} +".repeat(size / 27))),
    closed("removals of what find lists", |size| "find . -name x | while read f; do rm $f; done;".repeat(size / 45)),
    closed("a group of finds removed", |size| {
        format!("{{ {} }} | xargs{}", "find a;".repeat(size / 14), " rm {} ".repeat(size / 14))
    }),
    closed("Python", |size| script("python3 -c", size, "import os\n", "os.remove('x')\n")),
    closed("Python on one line", |size| script("python3 -c", size, "import os;", "os.remove('x');")),
    closed("Python calls in calls", |size| format!("python3 -c \"{}\"", nested("f(", "1", ")", size))),
    closed("Python lists", |size| script("python3 -c", size, "x=[", "'a',")),
    closed("Python names", |size| format!("python3 -c \"{}\"", fill(size, |at| format!("v{}=v{at}+'a'\n", at + 1)))),
    closed("Python dots", |size| format!("python3 -c \"{}\"", "a.".repeat(size / 2))),
    closed("Python loops", |size| script("python3 -c", size, "import os\n", "for f in g: os.remove(f)\n")),
    closed("Python comprehensions", |size| script("python3 -c", size, "", "[os.remove(f) for f in g if f] \n")),
    closed("Python format strings", |size| script("python3 -c", size, "", "x=f'{a}{b}'\n")),
    closed("Python format strings that never close", |size| format!("python3 -c \"x=f'{}'\"", "{".repeat(size))),
    closed("Python that runs shells", |size| script("python3 -c", size, "import os\n", "os.system('rm x')\n")),
    closed("Python code in code", |size| script("python3 -c", size, "", "exec('f()')\n")),
    closed("Python marks", |size| format!("python3 -c \"{}\"", "([{".repeat(size / 3))),
    closed("a Python here-document", |size| {
        format!("python3 - <<'E'\n{}E\n", "x = open('a').read()\n".repeat(size / 21))
    }),
    closed("Node", |size| script("node -e", size, "const fs=require('fs');", "fs.rmSync('x',{recursive:true});")),
    closed("Node requires", |size| script("node -e", size, "", "require('fs').rmSync('x');")),
    closed("Node chains", |size| format!("node -e \"a{}\"", ".b('x')".repeat(size / 7))),
    closed("Node comments that never end", |size| format!("node -e \"{}\"", "/* a ".repeat(size / 5))),
    closed("Node patterns", |size| format!("node -e \"{}\"", "x=/a;".repeat(size / 5))),
    closed("Perl", |size| format!("perl -e '{}'", "unlink \"x\";".repeat(size / 11))),
    closed("Perl without ends", |size| format!("perl -e '{}'", "unlink $x ".repeat(size / 10))),
    closed("Perl loops behind", |size| format!("perl -e '{}'", "unlink for glob \"x\";".repeat(size / 20))),
    closed("Perl quotes", |size| format!("perl -e '{}'", "q(a);".repeat(size / 5))),
    closed("Perl patterns on one line", |size| format!("perl -e '{}'", "=/".repeat(size / 2))),
    closed("Ruby", |size| format!("ruby -e '{}'", "File.delete(\"x\")\n".repeat(size / 17))),
    closed("Ruby blocks", |size| format!("ruby -e '{}'", "Dir[\"*\"].each { |f| File.delete(f) }\n".repeat(size / 37))),
    closed("awk", |size| format!("awk '{{ {} }}'", "print \"x\" | \"sh\";".repeat(size / 18))),
    closed("PHP", |size| format!("php -r '{}'", "unlink(\"x\");".repeat(size / 12))),
    closed("sed", |size| format!("sed '{}'", "s/a/b/;".repeat(size / 7))),
    closed("sed with commands", |size| format!("sed '{}'", "1e rm x\n".repeat(size / 8))),
    closed("sed sets", |size| format!("sed 's/{}e'", "[/".repeat(size / 2))),
    closed("sed expressions", |size| format!("sed{}", " -e s/a/b/e".repeat(size / 11))),
    closed("git commands", |size| "git reset --hard;".repeat(size / 17)),
    closed("git words", |size| format!("git push{}", fill(size, |at| format!(" b{at}")))),
    closed("git settings", |size| format!("git{} status", fill(size, |at| format!(" -c a.b{at}=c")))),
    closed("git aliases", |size| format!("git{} x", " -c alias.x='!a'".repeat(size / 16))),
    closed("git folders", |size| format!("git{} clean -f", " -C a".repeat(size / 5))),
    closed("git checkouts", |size| fill(size, |at| format!("git checkout f{at};"))),
    closed("decoded text", |size| format!("echo {} | base64 -d | sh", "YTth".repeat(size / 4))),
    closed("decoded texts", |size| "echo cm0gLXJmIHg=|base64 -d|sh;".repeat(size / 31)),
    closed("downloads that are run", |size| fill(size, |at| format!("curl -o f{at} u; sh f{at};"))),
    closed("downloads and programs", |size| {
        fill(size / 2, |at| format!("curl -o f{at} u;")) + &"./x;".repeat(size / 8)
    }),
    closed("uploads", |size| fill(size, |at| format!("curl -F a=@f{at} u;"))),
    closed("one upload of many files", |size| format!("curl{} u", fill(size, |at| format!(" -F a=@f{at}")))),
    closed("secrets read", |size| fill(size, |at| format!("cat .env.{at};"))),
    closed("secrets copied and sent", |size| fill(size, |at| format!("cp .env f{at}; curl -T f{at} u;"))),
    closed("secrets printed", |size| "echo $API_TOKEN;".repeat(size / 16)),
    closed("secrets printed into a pipe", |size| "echo $API_TOKEN|a;".repeat(size / 18)),
    closed("secrets committed", |size| fill(size, |at| format!("git add .env{at}; git commit -m a;"))),
    closed("SQL", |size| format!("psql -c '{}'", "select 1; ".repeat(size / 10))),
    closed("SQL that drops", |size| fill(size, |at| format!("psql -c 'drop table t{at}';"))),
    closed("SQL comments", |size| format!("psql -c '{}'", "/* a ".repeat(size / 5))),
    closed("containers", |size| "docker run -v /a:/b c rm -rf /b;".repeat(size / 32)),
    closed("one container", |size| format!("docker run -v /a:/b c rm -rf{}", " /b/x".repeat(size / 5))),
    closed("commands in one container", |size| format!("docker run c sh -c '{}'", "rm -rf /b;".repeat(size / 10))),
    closed("removals of containers", |size| format!("docker rm -f{}", fill(size, |at| format!(" c{at}")))),
    closed("other machines", |size| "ssh h rm -rf x;".repeat(size / 15)),
    closed("one other machine", |size| format!("ssh h '{}'", "rm -rf x;".repeat(size / 9))),
    closed("modes", |size| fill(size, |at| format!("chmod -R 777 /etc/x{at};"))),
    closed("modes of many files", |size| format!("chmod 777{}", fill(size, |at| format!(" /etc/x{at}")))),
    closed("options", |size| format!("rm{}", " -a".repeat(size / 3))),
    closed("one long cluster of options", |size| format!("sudo -{} rm", "n".repeat(size))),
    closed("long options", |size| format!("git push{}", fill(size, |at| format!(" --o{at}=v")))),
    closed("makefiles", |size| format!("printf 'a:\\n{}' >Makefile; make", "\\trm x\\n".repeat(size / 8))),
    closed("make again and again", |size| {
        format!("printf 'a:\\n{}' >Makefile;{}", "\\trm x\\n".repeat(size / 16), "make;".repeat(size / 10))
    }),
    closed("schedules", |size| format!("crontab - <<'E'\n{}E\n", "* * * * * rm x\n".repeat(size / 15))),
    closed("terminals", |size| format!("tmux{}", " new a \\;".repeat(size / 9))),
    closed("watches", |size| "watch rm x;".repeat(size / 11)),
    closed("PowerShell", |size| format!("pwsh -c '{}'", "Remove-Item x;".repeat(size / 14))),
    closed("ANSI-C quotes", |size| format!("echo{}", " $'\\x41\\n'".repeat(size / 10))),
    closed("one long ANSI-C quote", |size| format!("echo $'{}'", "\\x41".repeat(size / 4))),
    closed("single quotes", |size| format!("echo{}", " 'a'".repeat(size / 4))),
    closed("quotes side by side", |size| format!("echo {}", "'a'\"b\"".repeat(size / 6))),
    closed("escapes", |size| format!("echo {}", "\\a".repeat(size / 2))),
    closed("joined lines", |size| format!("echo{}", " a\\\n".repeat(size / 4))),
    closed("comments", |size| "# a comment\n".repeat(size / 12)),
    closed("one long comment", |size| format!("a # {}", "rm -rf / ".repeat(size / 9))),
    closed("empty lines", |size| "\n".repeat(size)),
    closed("blanks", |size| format!("a{}b", " ".repeat(size))),
    closed("line ends of another system", |size| "rm x\r\n".repeat(size / 6)),
    closed("letters beyond ASCII", |size| format!("echo{}", " ä€𝄞".repeat(size / 10))),
    closed("removals beyond ASCII", |size| "rm -rf ü;".repeat(size / 10)),
    closed("traps", |size| "trap 'rm x' EXIT;".repeat(size / 17)),
    closed("prefixes", |size| format!("{}a", "! ".repeat(size / 2))),
    closed("times", |size| format!("{}a", "time ".repeat(size / 5))),
    closed("coprocesses", |size| "coproc a;".repeat(size / 9)),
    closed("descriptors", |size| format!("a{}", " 2>&1".repeat(size / 5))),
    closed("kills", |size| "kill -9 1;".repeat(size / 10)),
    closed("kills after a long pipe", |size| {
        format!("{{ {} }} | {{ {} }}", "ps;".repeat(size / 6), "kill $p;".repeat(size / 16))
    }),
    closed("programs of unknown names", |size| "$x -rf a;".repeat(size / 9)),
    closed("words of unknown values", |size| format!("rm -rf{}", " $x/a".repeat(size / 5))),
    open("an unclosed quote", |size| format!("echo \"{}", "rm -rf / ".repeat(size / 9))),
    open("an unclosed single quote", |size| format!("echo '{}", "rm -rf / ".repeat(size / 9))),
    open("quotes opened again and again", |size| "echo \"$(a ".repeat(size / 10)),
    open("unclosed substitutions", |size| "$(a ".repeat(size / 4)),
    open("unclosed parentheses", |size| "(a ".repeat(size / 3)),
    open("unclosed braces", |size| "{ a; ".repeat(size / 5)),
    open("unclosed parameters", |size| "${a ".repeat(size / 4)),
    open("unclosed branches", |size| "if a; then ".repeat(size / 11)),
    open("unclosed cases", |size| "case a in ".repeat(size / 10)),
    open("groups of patterns that never close", |size| "case a in @(".repeat(size / 12)),
    open("cases without patterns", |size| "|| case a in ;; ".repeat(size / 15)),
    closed("patterns with open sets", |size| format!("case a in {} esac", "[b) c;; ".repeat(size / 8))),
    closed("commands about Taut", |size| "taut status;".repeat(size / 12)),
    closed("shells", |size| "sh;".repeat(size / 3)),
    closed("splitting by many characters", |size| {
        format!("IFS={};{}", "ab".repeat(size / 4), "a $x;".repeat(size / 10))
    }),
    closed("assignments that are none", |size| "x+]=(a)".repeat(size / 7)),
    open("closing brackets", |size| ") ".repeat(size / 2)),
    open("an odd quote in many commands", |size| "a 'b; ".repeat(size / 6 / 2 * 2 + 1)),
    open("broken shell", |size| "rm -rf x; )".repeat(size / 11)),
    open("broken shell with substitutions", |size| format!("){}", " a $(b $(c));".repeat(size / 13))),
    open("broken shell with quotes", |size| format!("){}", " \"a $(b)\";".repeat(size / 10))),
    open("broken shell with open brackets", |size| format!("){}", " $( ${ \" ` ".repeat(size / 11))),
    open("broken shell of assignments", |size| format!(") {}", "a=b ".repeat(size / 4))),
];

/// A line of this family with `inside` before it, in its middle, and behind it.
impl HostileFamily {
    pub fn with(&self, inside: &str, size: usize) -> Vec<String> {
        let (whole, half) = ((self.line)(size), (self.line)(size / 2));
        let mut lines = vec![format!("{inside}\n{whole}")];
        if self.closed {
            lines.push(format!("{half}\n{inside}\n{half}"));
            lines.push(format!("{whole}\n{inside}"));
        }
        lines
    }
}

/// Units one after the other, up to the size.
fn fill(size: usize, unit: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(size + 64);
    let mut at = 0;
    while out.len() < size {
        out.push_str(&unit(at));
        at += 1;
    }
    out
}

/// One bracket in the other, up to the size.
fn nested(open: &str, inside: &str, close: &str, size: usize) -> String {
    let levels = size / (open.len() + close.len());
    format!("{}{inside}{}", open.repeat(levels), close.repeat(levels))
}

fn script(command: &str, size: usize, head: &str, unit: &str) -> String {
    format!("{command} \"{head}{}\"", unit.repeat(size / unit.len()))
}

/// A text as one quoted word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
