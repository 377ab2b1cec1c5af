use super::*;
use model::effect::Write;
use model::row::Event;
use model::session::ContextMemo;
use model::session_facts::DiffSize;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use store::Durability;

const NOW: Ms = Ms(1_794_825_000_000);

/// A repository with one commit, a store, and the worker.
struct Stage {
    folder: tempfile::TempDir,
    tree: PathBuf,
    store: Store,
    worker: SessionFactsWorker,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (tree, state) = (root.join("tree"), root.join("state"));
        fs::create_dir_all(&tree).unwrap();
        let setting = PipelineSetup {
            state: state.clone(),
            home: root.join("home"),
            user_config: root.join("config.toml"),
            patience: PipelineSetup::HOOK_PATIENCE,
            dialects: agents::ALL,
        };
        let store = Store::open_and_migrate(&state, PipelineSetup::HOOK_PATIENCE).unwrap();
        let stage = Self { folder, tree, store, worker: SessionFactsWorker::new(&setting) };
        stage.git(&["init", "-q", "-b", "main"]);
        stage.write("one.txt", "1\n2\n3\n");
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-q", "-m", "first"]);
        stage
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).current_dir(&self.tree);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(command.status().unwrap().success(), "{args:?}");
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.tree.join(name), text).unwrap();
    }

    fn transcript(&self) -> PathBuf {
        self.folder.path().join("transcript.jsonl")
    }

    fn put(&mut self, change: impl FnOnce(&mut Session)) {
        let mut session = Session {
            id: "s".into(),
            logical_id: "s".into(),
            agent: "web".into(),
            project: self.tree.display().to_string(),
            cwd: Some(self.tree.display().to_string()),
            transcript: Some(self.transcript().display().to_string()),
            state: SessionState::Active,
            started_at: NOW,
            last_seen_at: NOW,
            memo: ContextMemo { dialect: Some("claude-code".into()), ..ContextMemo::default() },
            ..Session::default()
        };
        change(&mut session);
        self.apply(Write::Session(Box::new(session)));
    }

    fn apply(&mut self, write: Write) {
        self.store.transact(Durability::Normal, |tx| tx.apply(&[write])).unwrap();
    }

    fn tool(&mut self) {
        let (session, tool) = (Some("s".into()), Some("Edit".into()));
        let event = Event { session, tool, ..Event::noted("PreToolUse", "web", "e".into(), NOW) };
        self.apply(Write::Event(Box::new(event)));
    }

    fn look(&mut self) -> SessionFacts {
        self.worker.seen = None;
        while self.worker.round(&mut self.store, NOW.plus(1_000)).unwrap() {}
        self.store.session_facts("s").unwrap()
    }
}

#[test]
fn f4_a_session_is_measured_when_it_comes_to_rest_and_the_users_own_changes_are_not_its() {
    let mut stage = Stage::new();
    stage.write("mine.txt", "a\nb\n");
    stage.put(|_| {});
    let facts = stage.look();
    assert_eq!(facts.branch.as_deref(), Some("main"));
    assert!(facts.base_files.is_some() && facts.base_commit.is_some());
    stage.tool();
    stage.write("one.txt", "1\n2\n3\n4\n");
    assert_eq!(stage.look().diff, Some(DiffSize { files: 1, added: 1, removed: 0 }));
    stage.write("two.txt", "x\n");
    stage.put(|session| session.last_seen_at = NOW.plus(10));
    assert_eq!(stage.look().diff.unwrap().files, 1, "at work it is not measured each time");
    stage.git(&["checkout", "-q", "-b", "side"]);
    stage.put(|session| (session.last_seen_at, session.state) = (NOW.plus(20), SessionState::Idle));
    let facts = stage.look();
    assert_eq!(facts.diff, Some(DiffSize { files: 2, added: 2, removed: 0 }));
    assert_eq!((facts.branch.as_deref(), facts.diff_note), (Some("side"), None));
}

#[test]
fn f4_what_is_there_when_a_tool_was_called_already_is_the_sessions() {
    let mut stage = Stage::new();
    stage.put(|_| {});
    stage.tool();
    stage.write("two.txt", "x\n");
    let facts = stage.look();
    assert_eq!((facts.base_files, facts.diff), (None, Some(DiffSize { files: 1, added: 1, removed: 0 })));
}

#[test]
fn f4_where_there_is_no_diff_its_place_says_why() {
    let mut stage = Stage::new();
    stage.put(|_| {});
    stage.look();
    stage.tool();
    fs::rename(stage.tree.join(".git/objects"), stage.tree.join(".git/gone")).unwrap();
    fs::create_dir(stage.tree.join(".git/objects")).unwrap();
    stage.put(|session| (session.last_seen_at, session.state) = (NOW.plus(20), SessionState::Idle));
    let facts = stage.look();
    assert_eq!(facts.diff, None);
    assert_eq!(facts.diff_note.as_deref(), Some("the commit it began at is not in the repository any more"));
}

fn answer(id: &str, at: Ms, output: u64, words: &str) -> String {
    let usage = serde_json::json!({"input_tokens": 100, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 7,
        "output_tokens": output});
    let message = serde_json::json!({"id": id, "model": "claude-haiku-4-5", "usage": usage,
        "content": [{"type": "text", "text": words}]});
    serde_json::json!({"type": "assistant", "timestamp": at.rfc3339(), "message": message}).to_string() + "\n"
}

#[test]
fn f4_tokens_and_cost_follow_a_transcript_as_it_grows_and_leave_out_what_was_before() {
    let mut stage = Stage::new();
    let early = answer("a", NOW.plus(-5), 1_000, "before");
    let first = answer("b", NOW.plus(5), 20, "hello");
    let (half, rest) = first.split_at(60);
    fs::write(stage.transcript(), early + half).unwrap();
    stage.put(|_| {});
    assert_eq!(stage.look().tokens_out, None, "a line that is not whole yet");
    let grow = |stage: &Stage, text: &str| {
        let old = fs::read_to_string(stage.transcript()).unwrap();
        fs::write(stage.transcript(), old + text).unwrap();
    };
    grow(&stage, rest);
    let facts = stage.look();
    assert_eq!((facts.tokens_in, facts.tokens_out, facts.tokens_cached), (Some(110), Some(20), Some(7)));
    assert_eq!(facts.model.as_deref(), Some("claude-haiku-4-5"));
    assert!(facts.cost_estimated && facts.cost_usd.is_some_and(|cost| cost > 0.0));
    grow(&stage, &answer("c", NOW.plus(9), 30, "more"));
    assert_eq!(stage.look().tokens_out, Some(50));
    stage.store.note_session("s", |facts| (facts.cost_usd, facts.cost_estimated) = (Some(0.5), false)).unwrap();
    grow(&stage, &answer("d", NOW.plus(9), 40, "more"));
    let facts = stage.look();
    assert_eq!(
        (facts.tokens_out, facts.cost_usd, facts.cost_estimated),
        (Some(90), Some(0.5), false),
        "as it was told"
    );
    fs::write(stage.transcript(), answer("e", NOW.plus(20), 4, "anew")).unwrap();
    assert_eq!(stage.look().tokens_out, Some(4), "a file that was written anew is read anew");
}

#[test]
fn f4_last_words_are_read_from_a_transcript_at_rest_unless_an_event_told_them() {
    let mut stage = Stage::new();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    fs::write(stage.transcript(), answer("a", NOW, 1, &format!("Done.\nThe token is {secret}"))).unwrap();
    stage.put(|_| {});
    assert_eq!(stage.look().last_words, None, "it is still at work");
    stage.put(|session| session.state = SessionState::Idle);
    let words = stage.look().last_words.unwrap();
    assert!(words.starts_with("Done.\nThe token is") && !words.contains(&secret), "{words}");
    let note = SessionNote::LastWords("as the event told".into());
    stage.apply(Write::Fact { session: "s".into(), note, at: NOW });
    fs::write(stage.transcript(), answer("a", NOW, 1, "older than the event") + &answer("b", NOW, 1, "longer"))
        .unwrap();
    stage.put(|session| (session.state, session.last_seen_at) = (SessionState::Idle, NOW.plus(3)));
    assert_eq!(stage.look().last_words.as_deref(), Some("as the event told"));
}

#[test]
fn f4_what_an_event_tells_while_a_session_is_looked_at_stays() {
    let told = SessionFacts {
        last_words: Some("new".into()),
        words_told: true,
        failed_tool: Some("Bash".into()),
        cost_usd: Some(2.0),
        ..SessionFacts::default()
    };
    let found = SessionFacts {
        last_words: Some("old".into()),
        branch: Some("main".into()),
        cost_usd: Some(1.0),
        cost_estimated: true,
        ..SessionFacts::default()
    };
    let mut stored = told.clone();
    merge(&mut stored, found);
    assert_eq!(stored, SessionFacts { branch: Some("main".into()), ..told });
}

#[test]
fn f4_what_was_spent_before_a_compaction_is_part_of_the_session_that_goes_on() {
    let mut stage = Stage::new();
    fs::write(stage.transcript(), answer("a", NOW.plus(-5), 10, "before") + &answer("b", NOW.plus(5), 20, "after"))
        .unwrap();
    stage.put(|session| (session.id, session.started_at, session.ended_at) = ("p".into(), NOW.plus(-9), Some(NOW)));
    stage.put(|session| (session.prev, session.source) = (Some("p".into()), "compact".into()));
    assert_eq!(stage.look().tokens_out, Some(30));
}
