//! The policy that holds where an event happens: the user's configuration and the
//! project's, layered and compiled once, and noticed when edited.

use crate::stamp::Stamp;
use host::overrides::{self, ActiveOverrides};
use host::trust::{self, TrustState};
use model::fact::Project;
use policy::config::{CHANGED_SINCE_TRUSTED, Effect};
use policy::{Diagnostic, Layer, LayerKind, Policy, Trust};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use sys::outside::{self, Rules, Unread};

/// A configuration larger than this is not one.
const LARGEST_CONFIG: u64 = 256 * 1024;

/// More projects than this are not remembered between events.
const MOST_PROJECTS: usize = 64;

/// The policy of one project, and what the user said about it at a terminal.
pub struct ProjectPolicy {
    pub policy: Policy,
    pub project: Project,
    pub standing: ActiveOverrides,
    /// What is wrong with the configuration.
    pub diagnostics: Vec<Diagnostic>,
}

impl ProjectPolicy {
    /// What holds where nothing can be read.
    pub fn anywhere(folder: &str) -> Self {
        Self::with(&[], folder)
    }

    /// What the user's own configuration says, with no project looked for.
    pub fn of_user(user_config: &Path, folder: &str) -> Self {
        let text = outside::read_text(user_config, &Rules::obeyed(LARGEST_CONFIG));
        let file = user_config.to_string_lossy().into_owned();
        let layers: Vec<Layer> =
            text.into_iter().map(|text| Layer { kind: LayerKind::User, file: file.clone(), text }).collect();
        Self::with(&layers, folder)
    }

    fn with(layers: &[Layer], folder: &str) -> Self {
        let (policy, diagnostics) = Policy::layered(layers, Trust::Untrusted);
        let project = Project { root: folder.to_string(), work_tree: folder.to_string(), git: false };
        Self { policy, project, standing: ActiveOverrides::default(), diagnostics }
    }
}

/// The policies of the projects seen so far. An edit is noticed at the next event,
/// by looking at the files, not by watching them.
pub struct PolicyCache {
    user_config: PathBuf,
    state: PathBuf,
    known: Vec<Known>,
}

struct Known {
    root: String,
    stamps: Vec<Stamp>,
    project_policy: Rc<ProjectPolicy>,
}

impl PolicyCache {
    pub fn new(user_config: PathBuf, state: PathBuf) -> Self {
        Self { user_config, state, known: Vec::new() }
    }

    pub fn of(&mut self, folder: &str, home: &Path) -> Rc<ProjectPolicy> {
        let project = host::probe::project(Path::new(folder), home);
        let files = self.files(&project);
        let stamps: Vec<Stamp> = files.iter().map(|file| Stamp::of(file)).collect();
        if let Some(known) = self.known.iter().find(|known| known.root == project.work_tree && known.stamps == stamps) {
            return Rc::clone(&known.project_policy);
        }
        let project_policy = Rc::new(self.read(project, &stamps));
        self.known.retain(|known| known.root != project_policy.project.work_tree);
        if self.known.len() >= MOST_PROJECTS {
            self.known.remove(0);
        }
        self.known.push(Known {
            root: project_policy.project.work_tree.clone(),
            stamps,
            project_policy: Rc::clone(&project_policy),
        });
        project_policy
    }

    /// Everything the policy depends on, strongest last.
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

    /// The files that hold where an event happens, as they are now, and whether the project's are trusted.
    pub fn layers(&self, folder: &str, home: &Path) -> (Vec<Layer>, Trust) {
        let project = host::probe::project(Path::new(folder), home);
        let stamps: Vec<Stamp> = self.files(&project).iter().map(|file| Stamp::of(file)).collect();
        let (layers, trust, _) = self.read_layers(&project, &stamps);
        (layers, trust)
    }

    fn read(&self, project: Project, stamps: &[Stamp]) -> ProjectPolicy {
        let (layers, trust, unread) = self.read_layers(&project, stamps);
        let (mut policy, mut diagnostics) = Policy::layered(&layers, trust);
        policy.unread.extend(unread.iter().filter(|found| found.weakens()).cloned());
        diagnostics.extend(unread);
        if trust == Trust::Changed {
            let changed = layers.iter().rfind(|layer| layer.kind != LayerKind::User);
            let file = changed.map(|layer| layer.file.clone()).unwrap_or_default();
            let hint = "until then what needs trust in it does nothing";
            diagnostics.push(Diagnostic::of_file(file, Effect::Ignored, CHANGED_SINCE_TRUSTED.to_string(), hint));
        }
        ProjectPolicy { policy, project, diagnostics, standing: overrides::read(&self.state) }
    }

    fn read_layers(&self, project: &Project, stamps: &[Stamp]) -> (Vec<Layer>, Trust, Vec<Diagnostic>) {
        let [user, shared, local, _, _] = self.files(project);
        let root = Path::new(&project.work_tree);
        let (mut layers, mut unread) = (Vec::new(), Vec::new());
        let kinds = [LayerKind::User, LayerKind::Project, LayerKind::Local];
        for ((kind, file), stamp) in kinds.into_iter().zip([user, shared, local]).zip(stamps) {
            let foreign = kind != LayerKind::User && !is_ours(root);
            let read = if foreign { Err(not_ours(root)) } else { stamp.text(&file, LARGEST_CONFIG) };
            let file = file.to_string_lossy().into_owned();
            match read {
                Ok(text) => layers.push(Layer { kind, file, text }),
                Err(Unread::Missing) => {}
                Err(why) if stamp.is_there() => unread.push(not_read(file, &why)),
                Err(_) => {}
            }
        }
        // Of the very bytes that are going to be obeyed: the files may be others by now.
        let text = |kind| layers.iter().find(|layer| layer.kind == kind).map(|layer| layer.text.as_bytes());
        let contents = [text(LayerKind::Project), text(LayerKind::Local)];
        let trust = match trust::state_for(&self.state, root, contents) {
            TrustState::Never => Trust::Untrusted,
            TrustState::Changed => Trust::Changed,
            TrustState::Holds => Trust::Trusted,
        };
        (layers, trust, unread)
    }
}

/// A repository that belongs to somebody else is not read for policy, as git does not obey one.
fn is_ours(root: &Path) -> bool {
    std::fs::metadata(root).is_ok_and(|found| outside::ours_or_root(&found))
}

fn not_ours(root: &Path) -> Unread {
    let owner = std::fs::metadata(root).map(|found| found.uid()).unwrap_or_default();
    Unread::NotOurs { owner }
}

/// A configuration that is there and not obeyed is said to be.
fn not_read(file: String, why: &Unread) -> Diagnostic {
    let (effect, hint) = match why {
        Unread::NotOurs { .. } => {
            (Effect::Ignored, "make the project yours with `chown`, or copy what you want into your own configuration")
        }
        // Whatever limits stand in it are not known.
        _ => (Effect::Limit, "put a plain file there, or remove it"),
    };
    Diagnostic::of_file(file, effect, format!("not read: {why}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::PolicyMode;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Somebody swaps the file all the time; it loosens nothing unless the very bytes that are obeyed are trusted.
    #[test]
    fn t9_a_configuration_that_is_swapped_all_the_time_never_loosens_untrusted() {
        let folder = tempfile::tempdir().unwrap();
        let (state, root) = (folder.path().join("state"), folder.path().join("project"));
        let config = root.join(".taut/config.toml");
        std::fs::create_dir_all(root.join(".taut")).unwrap();
        let good = "[guard]\nmode = \"enforce\"\n";
        let evil = "[guard]\nmode = \"observe\"\n";
        std::fs::write(&config, good).unwrap();
        trust::grant(&state, &root).unwrap();
        let over = AtomicBool::new(false);
        let beside = folder.path().join("beside");
        let loosened = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    for text in [evil, good] {
                        std::fs::write(&beside, text).unwrap();
                        std::fs::rename(&beside, &config).unwrap();
                    }
                }
            });
            let loosened = (0..2_000).filter(|_| {
                let mut policies = PolicyCache::new(folder.path().join("none"), state.clone());
                policies.of(&root.to_string_lossy(), folder.path()).policy.mode != PolicyMode::Enforce
            });
            let loosened = loosened.count();
            over.store(true, Ordering::Relaxed);
            loosened
        });
        assert_eq!(loosened, 0);
    }
}
