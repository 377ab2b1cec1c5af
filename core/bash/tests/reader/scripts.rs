//! Inline scripts: calls of other languages as the shell commands that would do the same.

use crate::common;
use crate::common::{check, check_reaches, read};
use bash::Via;

#[test]
fn python_calls_become_commands() {
    check_reaches(&[
        ("python3 -c \"import os; os.system('rm -rf /')\"", "rm -rf /"),
        ("python -c 'import shutil; p=\"/\"; shutil.rmtree(p)'", "rm -rf /"),
        ("python3 -c \"import subprocess as sp; sp.run(['rm','-rf','/'])\"", "rm -rf /"),
        ("python3 -c \"import subprocess; subprocess.run('rm -rf /', shell=True)\"", "rm -rf /"),
        ("python3 -c \"c=['rm','x']; import subprocess; subprocess.call(c)\"", "rm x"),
        ("python3 -c \"from shutil import rmtree as r; r('/a')\"", "rm -rf /a"),
        ("python3 -c \"from os import remove, unlink; unlink('/a')\"", "rm /a"),
        ("python3 -c \"from pathlib import Path; Path('/a').unlink()\"", "rm /a"),
        ("python3 -c \"p = Path('/a'); p.rmdir()\"", "rmdir /a"),
        ("python3 -c \"Path('/a').write_text('x')\"", ">/a"),
        ("python3 -c \"open('/etc/x','w').write('y')\"", ">/etc/x"),
        ("python3 -c \"open('/etc/x', mode='a')\"", ">>/etc/x"),
        ("python3 -c \"import os; os.kill(-1, 9)\"", "kill -9 -1"),
        ("python3 -c \"import os, signal; os.kill(pid, signal.SIGKILL)\"", "kill -SIGKILL ‹pid›"),
        ("python3 -c \"__import__('os').system('rm x')\"", "rm x"),
        ("python3 -c \"import os; os.remove(os.path.join(os.environ['HOME'], '.ssh'))\"", "rm /home/ann/.ssh"),
        ("python3 -c \"import os; os.remove(os.path.expanduser('~/x'))\"", "rm /home/ann/x"),
        ("python3 -c \"import os; os.system(f'rm -rf {d}')\"", "rm -rf ‹${d}›"),
        ("python3 -c \"d='/a'; import os; os.system(f'rm -rf {d}')\"", "rm -rf /a"),
        ("python3 -c \"import os; os.system('rm ' + '-rf ' + x)\"", "rm -rf ‹${x}›"),
        ("python3 -c \"exec('import os; os.remove(1+2)')\"", "rm 12"),
        ("python3 -c \"import base64, os; os.system(base64.b64decode('cm0gLXJmIC8=').decode())\"", "rm -rf /"),
        ("python3 - <<'EOF'\nimport shutil\nshutil.rmtree(\n  '/data',\n  ignore_errors=True)\nEOF", "rm -rf /data"),
        ("echo 'import os; os.remove(\"/x\")' | python3", "rm /x"),
        ("python3 <<< 'import os; os.remove(\"/x\")'", "rm /x"),
    ]);
    assert_eq!(*read("python3 -c \"import os; os.remove('x')\"").commands[1].via, [Via::Script("python".into())]);
}

#[test]
fn node_calls_become_commands() {
    check_reaches(&[
        ("node -e \"require('fs').rmSync('/', {recursive:true, force:true})\"", "rm -rf /"),
        ("node -e \"const fs=require('fs'); fs.unlinkSync('/a')\"", "rm /a"),
        ("node -e \"const {execSync: run} = require('node:child_process'); run('rm x')\"", "rm x"),
        ("node -e \"require('child_process').exec('rm x')\"", "rm x"),
        ("node -e \"const cp=require('child_process'); cp.spawn('rm', ['-rf', '/'])\"", "rm -rf /"),
        ("node --eval \"require('fs').promises.rm('/a', {recursive: true})\"", "rm -rf /a"),
        ("node -e \"fs.writeFileSync('/etc/hosts', '')\"", ">/etc/hosts"),
        ("node -e \"import fs from 'fs'; const d = '/a'; fs.rmSync(d + '/b')\"", "rm -f /a/b"),
        ("node -e \"[1].forEach(x => fs.unlinkSync('/a'))\"", "rm /a"),
        ("node -e 'execSync(`rm -rf ${d}`)'", "rm -rf ‹${d}›"),
        ("node -e \"process.kill(1, 'SIGKILL')\"", "kill -SIGKILL 1"),
        ("deno eval \"Deno.remove('/a', {recursive: true})\"", "rm -rf /a"),
        ("node <<EOF\nrequire('fs').unlinkSync('/a')\nEOF", "rm /a"),
    ]);
}

#[test]
fn perl_ruby_php_awk_and_lua_calls_become_commands() {
    check_reaches(&[
        ("perl -e 'system(\"rm x\")'", "rm x"),
        ("perl -e 'system \"rm\", \"-rf\", \"/\"'", "rm -rf /"),
        ("perl -e 'my $d = \"/a\"; unlink $d'", "rm /a"),
        ("perl -e '`rm x`'", "rm x"),
        ("perl -e 'print qx(rm x)'", "rm x"),
        ("perl -MFile::Path -e 'rmtree(\"/a\")'", "rm -rf /a"),
        ("perl -e 'open(F, \">\", \"/etc/x\")'", ">/etc/x"),
        ("perl -e 'unlink glob(\"/etc/*\")'", "rm /etc/«*»"),
        ("perl -e 'kill 9, -1'", "kill -9 -1"),
        ("perl -le 'unlink(\"a\", \"b\")'", "rm a b"),
        ("ruby -e 'system \"rm x\"'", "rm x"),
        ("ruby -rfileutils -e 'FileUtils.rm_rf(\"/\")'", "rm -rf /"),
        ("ruby -e 'FileUtils.rm_rf \"/x\"'", "rm -rf /x"),
        ("ruby -e 'puts `rm x`'", "rm x"),
        ("ruby -e '%x(rm x)'", "rm x"),
        ("ruby -e 'File.delete(\"x\")'", "rm x"),
        ("ruby -e 'd = \"/a\"; system(\"rm -rf #{d}\")'", "rm -rf /a"),
        ("php -r 'unlink(\"/a\");'", "rm /a"),
        ("php -r 'shell_exec(\"rm x\");'", "rm x"),
        ("php -r 'file_put_contents(\"/etc/x\", 1);'", ">/etc/x"),
        ("awk 'BEGIN { system(\"rm x\") }'", "rm x"),
        ("awk '{ print > \"/etc/x\" }' f", ">/etc/x"),
        ("awk '{ print | \"sh -c ls\" }'", "sh -c ls"),
        ("lua -e 'os.execute(\"rm x\")'", "rm x"),
    ]);
}

#[test]
fn names_in_strings_comments_and_other_objects_do_not_fire() {
    check(&[
        (
            "python3 -c \"print('os.system(1)') # os.remove('x')\"",
            &["python3 -c print('os.system(1)') # os.remove('x')"],
        ),
        ("python3 -c 'x=[1]; x.remove(1); f.read()'", &["python3 -c x=[1]; x.remove(1); f.read()"]),
        ("node -e '/a/.exec(\"x\") // fs.rmSync(1)'", &["node -e /a/.exec(\"x\") // fs.rmSync(1)"]),
        ("perl -pi -e 's/system/exec/g' f", &["perl -pi -e s/system/exec/g f"]),
        ("python3 -m http.server", &["python3 -m http.server"]),
        ("python3 script.py <<< 'import os; os.remove(1)'", &["python3 script.py"]),
        ("awk '$1 > 5 { print $2 }' f", &["awk $1 > 5 { print $2 } f"]),
        ("ruby -e 'puts \"system\"'", &["ruby -e puts \"system\""]),
    ]);
    let doc = "python3 - <<'EOF'\n'''\nos.system('rm -rf /')\n'''\nprint(1)\nEOF";
    assert_eq!(common::runs(doc), ["python3 -"]);
}

#[test]
fn files_a_script_reads_are_reported_as_read() {
    check(&[
        ("python3 -c \"print(open('.env').read())\"", &["python3 -c print(open('.env').read())", "<.env"]),
        ("ruby -e 'puts File.read(\".env\")'", &["ruby -e puts File.read(\".env\")", "<.env"]),
        ("perl -e 'open(F, \"<\", \".env\")'", &["perl -e open(F, \"<\", \".env\")", "<.env"]),
    ]);
}

#[test]
fn code_that_is_decoded_or_fetched_is_reported_as_a_pipeline_into_its_interpreter() {
    check(&[
        ("python3 -c \"exec(base64.b64decode(x))\"", &["python3 -c exec(base64.b64decode(x))", "base64 -d", "python"]),
        ("node -e 'eval(atob(x))'", &["node -e eval(atob(x))", "base64 -d", "node"]),
        (
            "python3 -c 'c = urlopen(u).read(); exec(c)'",
            &["python3 -c c = urlopen(u).read(); exec(c)", "curl", "python"],
        ),
    ]);
}

#[test]
fn a_loop_in_a_script_removes_what_it_goes_through() {
    check_reaches(&[
        ("python3 -c \"import glob,os\nfor p in glob.glob('/etc/*.conf'): os.remove(p)\"", "rm /etc/«*».conf"),
        ("python3 -c \"from pathlib import Path\nfor p in Path('/a').rglob('*'): p.unlink()\"", "rm -r /a/«**»/«*»"),
        ("python3 -c \"d = Path('/a')\nfor p in sorted(d.iterdir()):\n  if p.is_file(): p.unlink()\"", "rm /a/«*»"),
        ("python3 -c \"import os; [os.remove(f) for f in os.listdir('.')]\"", "rm «*»"),
        (
            "python3 -c \"import os\nfor r,d,f in os.walk('/a'):\n  for x in f: os.remove(os.path.join(r,x))\"",
            "rm -r /a/«**»/«*»",
        ),
        ("python3 -c \"import os,glob; list(map(os.remove, glob.glob('/a/*')))\"", "rm /a/«*»"),
        ("python3 -c \"import shutil\nfor d in ['/a','/b']: shutil.rmtree(d)\"", "rm -rf /a /b"),
        ("node -e \"for (const f of fs.readdirSync('/a')) fs.unlinkSync('/a/' + f)\"", "rm /a/«*»"),
        ("node -e \"fs.readdirSync('/a').forEach(f => fs.unlinkSync('/a/' + f))\"", "rm /a/«*»"),
        ("perl -e 'unlink glob \"/a/*\"'", "rm /a/«*»"),
        ("perl -e 'unlink for glob(\"/a/*\")'", "rm /a/«*»"),
        ("perl -e 'for my $f (glob(\"/a/*\")) { unlink $f }'", "rm /a/«*»"),
        ("ruby -e 'Dir.glob(\"/a/**/*\").each { |f| File.delete(f) }'", "rm -r /a/«**»/«*»"),
        ("ruby -e 'Dir[\"/a/*\"].each { |f| File.delete(f) }'", "rm /a/«*»"),
        ("php -r 'array_map(\"unlink\", glob(\"/a/*\"));'", "rm /a/«*»"),
        ("php -r 'foreach (glob(\"/a/*\") as $f) unlink($f);'", "rm /a/«*»"),
    ]);
}

#[test]
fn a_condition_in_a_loop_leaves_open_what_is_meant() {
    check_reaches(&[
        ("python3 -c \"import os\nfor f in os.listdir('.'):\n  if f.endswith('.o'): os.remove(f)\"", "rm ‹f›"),
        ("python3 -c \"import os; [os.remove(f) for f in os.listdir('.') if f.endswith('.o')]\"", "rm ‹f›"),
    ]);
}
