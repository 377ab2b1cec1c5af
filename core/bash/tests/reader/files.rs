//! What a line runs from files, where their text is known.

use crate::common::{read, read_with, runs_with};
use bash::WantedFile;

const CLEAN: &str = "#!/bin/sh\n# tidy up\nrm -rf ~\n";

#[test]
fn g12_a_file_that_is_run_is_wanted_until_it_is_known() {
    let wanted = [WantedFile::At("/srv/app/clean.sh".to_string())];
    assert_eq!(read("bash clean.sh").wants, wanted);
    assert!(read_with("bash clean.sh", &[("/srv/app/clean.sh", CLEAN)]).wants.is_empty());
    assert!(read("ls -la; git status; echo clean.sh").wants.is_empty());
}

#[test]
fn g12_what_a_script_runs_stands_in_its_file_on_its_line() {
    let files = [("/srv/app/clean.sh", CLEAN)];
    for line in ["bash clean.sh", "sh -x ./clean.sh", "source clean.sh", ". ./clean.sh", "cd /; bash /srv/app/clean.sh"]
    {
        let reading = read_with(line, &files);
        let found = reading.commands.iter().find(|command| command.program().as_deref() == Some("rm"));
        let place = found.and_then(|command| command.file()).map(|(path, line)| (path.to_string(), line));
        assert_eq!(place, Some(("/srv/app/clean.sh".to_string(), 3)), "{line}");
    }
}

#[test]
fn g12_a_script_that_runs_itself_or_another_ends() {
    let files = [("/srv/app/a.sh", "bash b.sh\nls a"), ("/srv/app/b.sh", "bash a.sh\nls b")];
    let ran = runs_with("bash a.sh", &files);
    assert_eq!(ran, ["bash a.sh", "bash b.sh", "bash a.sh", "ls b", "ls a"]);
}
