//! The law that holds where an event happens: the user's configuration and the
//! project's, layered and compiled once, and noticed when edited.

use crate::stamp::Stamp;
use host::overrides::{self, Standing};
use host::trust;
use model::fact::Project;
use policy::{Diagnostic, Layer, LayerKind, Policy, Trust};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A configuration larger than this is not one.
const LARGEST_CONFIG: u64 = 256 * 1024;

/// More projects than this are not remembered between events.
const MOST_PROJECTS: usize = 64;

/// The law of one project, and what the user said about it at a terminal.
pub struct Law {
    pub policy: Policy,
    pub project: Project,
    pub standing: Standing,
    /// What is wrong with the configuration.
    pub diagnostics: Vec<Diagnostic>,
}

/// The laws of the projects seen so far. An edit is noticed at the next event,
/// by looking at the files, not by watching them.
pub struct Laws {
    user_config: PathBuf,
    state: PathBuf,
    known: Vec<Known>,
}

struct Known {
    root: String,
    stamps: Vec<Stamp>,
    law: Rc<Law>,
}

impl Laws {
    pub fn new(user_config: PathBuf, state: PathBuf) -> Self {
        Self { user_config, state, known: Vec::new() }
    }

    pub fn of(&mut self, folder: &str, home: &Path) -> Rc<Law> {
        let project = host::probe::project(Path::new(folder), home);
        let files = self.files(&project);
        let stamps: Vec<Stamp> = files.iter().map(|file| Stamp::of(file)).collect();
        if let Some(known) = self.known.iter().find(|known| known.root == project.work_tree && known.stamps == stamps) {
            return Rc::clone(&known.law);
        }
        let law = Rc::new(self.read(project, &stamps));
        self.known.retain(|known| known.root != law.project.work_tree);
        if self.known.len() >= MOST_PROJECTS {
            self.known.remove(0);
        }
        self.known.push(Known { root: law.project.work_tree.clone(), stamps, law: Rc::clone(&law) });
        law
    }

    /// Everything the law depends on, strongest last.
    fn files(&self, project: &Project) -> [PathBuf; 5] {
        let root = Path::new(&project.work_tree);
        [
            self.user_config.clone(),
            root.join(".taut/config.toml"),
            root.join(".taut/config.local.toml"),
            trust::file(&self.state, root),
            overrides::file(&self.state),
        ]
    }

    fn read(&self, project: Project, stamps: &[Stamp]) -> Law {
        let [user, shared, local, _, _] = self.files(&project);
        let mut layers = Vec::new();
        let kinds = [LayerKind::User, LayerKind::Project, LayerKind::Local];
        for ((kind, file), stamp) in kinds.into_iter().zip([user, shared, local]).zip(stamps) {
            if let Some(text) = stamp.text(&file, LARGEST_CONFIG) {
                layers.push(Layer { kind, file: file.to_string_lossy().into_owned(), text });
            }
        }
        let trusted = trust::holds(&self.state, Path::new(&project.work_tree));
        let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
        let (policy, diagnostics) = Policy::layered(&layers, trust);
        Law { policy, project, diagnostics, standing: overrides::read(&self.state) }
    }
}
