//! Makefiles: which recipes the goals of a line would run.

mod expand;
mod goals;
mod lines;
mod rules;

use std::collections::HashMap;

use super::EntryPiece;
use expand::Variables;

/// What was asked of `make`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Make {
    pub(crate) goals: Vec<String>,
    /// `NAME=value` on the line: stronger than the file.
    pub(crate) overrides: Vec<(String, String)>,
    /// What the line sets for it: weaker than the file, but `?=` keeps it.
    pub(crate) environment: Vec<(String, String)>,
    /// `-n`: only what runs while the file is read, and what is marked with `+`.
    pub(crate) dry: bool,
    /// The folder it runs in.
    pub(crate) folder: Option<String>,
}

/// One rule, with its targets and prerequisites already expanded.
#[derive(Debug, Default)]
struct Rule {
    targets: Vec<String>,
    prerequisites: Vec<String>,
    /// The `%` of a static pattern rule (`a.o b.o: %.o: %.c`).
    stem: Option<String>,
    recipe: Vec<RecipeLine>,
    /// Variables that hold for these targets only.
    own: Vec<(String, String)>,
    file: Option<String>,
}

#[derive(Debug)]
struct RecipeLine {
    text: String,
    line: usize,
}

/// A file that has been read, with those it includes.
#[derive(Debug, Default)]
struct Makefile {
    variables: Variables,
    rules: Vec<Rule>,
    by_target: HashMap<String, Vec<usize>>,
    /// Rules with a `%` in their target.
    patterns: Vec<usize>,
    first: Option<String>,
    one_shell: bool,
    /// What runs while the file is read.
    ran: Vec<EntryPiece>,
    /// The included file being read.
    file: Option<String>,
}

/// The shell that `make` would run for `asked`. `include` gives the texts of other files, by the name they are asked for.
pub(crate) fn make(text: &str, asked: &Make, include: &mut dyn FnMut(&str) -> Option<String>) -> Vec<EntryPiece> {
    let mut file = Makefile { variables: Variables::new(asked), ..Makefile::default() };
    rules::read(&mut file, text, include, 0);
    goals::run(file, asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, asked: &Make) -> Vec<(usize, String)> {
        make(text, asked, &mut |_| None).into_iter().map(|piece| (piece.line, piece.text)).collect()
    }

    fn runs(text: &str, goals: &[&str]) -> Vec<String> {
        let asked = Make { goals: goals.iter().map(ToString::to_string).collect(), ..Make::default() };
        shown(text, &asked).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn g12_a_target_runs_its_prerequisites_first_and_the_first_target_is_the_default() {
        let text = ".PHONY: all\nall: a b\n\techo all\na: c\n\t@echo a\nb:\n\t-echo b\nc:\n\t+@ echo c\n";
        assert_eq!(runs(text, &[]), ["echo c", "echo a", "echo b", "echo all"]);
        assert_eq!(runs(text, &["b"]), ["echo b"]);
        assert_eq!(runs(text, &["none"]), Vec::<String>::new());
        let asked = Make { goals: vec!["a".into()], ..Make::default() };
        assert_eq!(shown(text, &asked), [(9, "echo c".to_string()), (5, "echo a".to_string())]);
        assert_eq!(runs(".DEFAULT_GOAL := b\na:\n\techo a\nb:\n\techo b\n", &[]), ["echo b"]);
    }

    #[test]
    fn g12_variables_of_the_file_and_of_the_line_are_put_in() {
        let text =
            "OUT ?= build\nD = $(OUT)/x\nS := $(OUT)\nOUT += more\nc:\n\trm -rf $(D) ${S} $(NONE) $$HOME $$(pwd)\n";
        assert_eq!(runs(text, &["c"]), ["rm -rf build more/x build ${NONE} $HOME $(pwd)"]);
        let asked = Make { goals: vec!["c".into()], overrides: vec![("OUT".into(), "~".into())], ..Make::default() };
        assert_eq!(shown(text, &asked)[0].1, "rm -rf ~/x ~ ${NONE} $HOME $(pwd)");
        let asked = Make { goals: vec!["c".into()], environment: vec![("OUT".into(), "/e".into())], ..Make::default() };
        assert_eq!(shown("OUT ?= b\nc:\n\trm $(OUT)\n", &asked)[0].1, "rm /e");
        assert_eq!(shown("OUT = b\nc:\n\trm $(OUT)\n", &asked)[0].1, "rm b");
    }

    #[test]
    fn g12_what_has_a_value_that_is_not_known_is_not_taken_for_empty() {
        let text = "A := $(filter-out x,$(B))\nifeq ($(OS),x)\nC = a\nelse\nC = b\nendif\nc:\n\trm -rf $(A)/* $(C)/*\n";
        assert_eq!(runs(text, &["c"]), ["rm -rf ${make_filter_out:?}/* ${C:?}/*"]);
        // An included file that could not be read may set whatever this one does not.
        assert_eq!(runs("include x.mk\nc:\n\trm -rf $(A)/*\n", &["c"]), ["rm -rf ${A:?}/*"]);
    }

    #[test]
    fn g12_included_files_count_with_their_own_lines() {
        let asked = Make { goals: vec!["nuke".into()], ..Make::default() };
        let found = make("include mk/x.mk\n", &asked, &mut |name| {
            (name == "mk/x.mk").then(|| "D = ~\nnuke:\n\trm -rf $(D)\n".to_string())
        });
        let piece = EntryPiece { file: Some("mk/x.mk".into()), ..EntryPiece::new("rm -rf ~", 3) };
        assert_eq!(found, [piece]);
    }

    #[test]
    fn g12_functions_of_make_give_what_they_would() {
        let text =
            "F = $(wildcard *.o) $(addprefix out/,a b) $(patsubst %.c,%.o,x.c) $(S:.c=.o)\nS = y.c\nc:\n\trm $(F)\n";
        assert_eq!(runs(text, &["c"]), ["rm *.o out/a out/b x.o y.o"]);
        let text = "define gone\nrm -rf $(1)\nendef\nc:\n\t$(call gone,~)\n\t$(foreach d,a b,rm $(d);)\n";
        assert_eq!(runs(text, &["c"]), ["rm -rf ~", "rm a; rm b;"]);
        assert_eq!(runs("c:\n\t$(RM) x\n\t$(MAKE) -C sub $@\n", &["c"]), ["rm -f x", "make -C sub c"]);
    }

    #[test]
    fn g12_a_substitution_of_the_shell_is_one_word() {
        let text = "G := $(firstword $(shell go env A B) x)\nc:\n\trm $(G)/bin $(addprefix y,$(G))\n\nV = 1\n\tW = 2\n";
        assert_eq!(runs(text, &["c"]), ["go env A B", "rm $(go env A B)/bin y$(go env A B)"]);
    }

    #[test]
    fn g12_shell_functions_run_while_the_file_is_read() {
        let text = "X := $(shell rm -rf ~)\nY != rm b\nZ = $(shell rm never)\nc:\n\techo\n";
        assert_eq!(runs(text, &["c"]), ["rm -rf ~", "rm b", "echo"]);
        let asked = Make { goals: vec!["c".into()], dry: true, ..Make::default() };
        assert_eq!(shown(text, &asked).len(), 2);
        assert_eq!(shown("c:\n\trm a\n\t+rm b\n\techo '$(shell rm c)'\n", &asked).len(), 2);
        assert_eq!(runs("c:\n\techo '$(shell rm c)'\n", &["c"]), ["rm c", "echo '$(rm c)'"]);
    }

    #[test]
    fn g12_recipes_keep_their_lines_together_and_their_shell() {
        assert_eq!(
            runs("c: ; rm x\n\tif a; then \\\n\t  b; \\\n\tfi\n", &["c"]),
            ["rm x", "if a; then \\\n  b; \\\nfi"]
        );
        assert_eq!(runs(".ONESHELL:\nc:\n\tcd x\n\t@rm y\n", &["c"]), ["cd x\nrm y"]);
        assert_eq!(runs(".RECIPEPREFIX = >\nc:\n>rm y\n", &["c"]), ["rm y"]);
        assert_eq!(runs("SHELL = python3\nc:\n\timport os\n", &["c"]), ["python3 -c 'import os'"]);
        assert_eq!(runs("SHELL := /bin/bash\nc:\n\trm\n", &["c"]), ["rm"]);
    }

    #[test]
    fn g12_pattern_rules_are_used_where_no_other_fits() {
        let text = "clean-%:\n\trm -rf $*\na.o b.o: %.o: %.c\n\tcc $<\nx: OUT = /\nx:\n\trm $(OUT)\n";
        assert_eq!(runs(text, &["clean-dist"]), ["rm -rf dist"]);
        assert_eq!(runs(text, &["b.o"]), ["cc b.c"]);
        assert_eq!(runs(text, &["x"]), ["rm /"]);
    }

    #[test]
    fn hostile_files_end() {
        let mut text = "A0 = x\n".to_string();
        for n in 1..60 {
            text.push_str(&format!("A{n} = $(A{0})$(A{0})\n", n - 1));
        }
        text.push_str("R = $(R)\nr: r\n\techo $(A59) $(R)\n");
        assert!(runs(&text, &["r"]).iter().all(|text| text.len() < 1 << 20));
        let deep: String = (0..5000).map(|n| format!("t{n}: t{}\n\techo {n}\n", n + 1)).collect();
        assert!(runs(&deep, &["t0"]).len() <= 5000);
        runs(&"$(".repeat(5000), &[]);
        runs(&format!("a:\n\t{}", "$(call a,".repeat(5000)), &[]);
        runs(&"include a\ndefine x\n".repeat(50), &["a"]);
        let itself = &mut |_: &str| Some("include a\n".to_string());
        assert!(make("include a\n", &Make::default(), itself).is_empty());
    }
}
