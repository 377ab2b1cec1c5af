//! A fleet that stands still, and a screen to look at it.

use dash::tui::{Chunk, ClockTick, ColorMode, FleetSnapshot, Key, ViewEffect, ViewInput, ViewState, draw};
use dash::view_model::{AgentRow, RunningCall, Verdict};
use model::row::{AgentStatus, Event};
use model::{Level, Ms};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::TaskTotals;

pub const NOW: Ms = Ms(1_794_700_800_000);

/// A state and all that was asked of the world so far.
pub struct TopView {
    pub state: ViewState,
    pub effects: Vec<ViewEffect>,
    pub size: (u16, u16),
}

impl TopView {
    pub fn new(width: u16, height: u16) -> Self {
        let stage = Self {
            state: ViewState::new(width, height, ColorMode::Colours),
            effects: Vec::new(),
            size: (width, height),
        };
        stage.then(ViewInput::Tick(ClockTick { now: NOW }))
    }

    pub fn with_fleet(width: u16, height: u16) -> Self {
        Self::new(width, height).then(ViewInput::Snapshot(snapshot()))
    }

    pub fn then(mut self, input: ViewInput) -> Self {
        if let ViewInput::Resize { width, height } = input {
            self.size = (width, height);
        }
        let (state, effects) = self.state.step(input);
        self.effects.extend(effects);
        Self { state, ..self }
    }

    pub fn key(self, key: Key) -> Self {
        self.then(ViewInput::Key(key))
    }

    /// Letters one after the other.
    pub fn typed(self, text: &str) -> Self {
        text.chars().fold(self, |stage, letter| stage.key(Key::Char(letter)))
    }

    pub fn screen(&self) -> String {
        lines(&self.drawn()).join("\n")
    }

    /// The chosen line: the one that is turned around.
    pub fn chosen(&self) -> String {
        let terminal = self.drawn();
        let buffer = terminal.backend().buffer();
        let turned = |y: &u16| {
            let cell = buffer.cell((buffer.area.width / 2, *y)).unwrap();
            cell.modifier.contains(ratatui::style::Modifier::REVERSED)
        };
        let y = (0..buffer.area.height).find(turned);
        y.map(|y| lines(&terminal)[usize::from(y)].clone()).unwrap_or_default()
    }

    pub fn drawn(&self) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| draw(&self.state, frame)).unwrap();
        terminal
    }

    /// The agents in the order they are listed.
    pub fn agents(&self) -> Vec<String> {
        let screen = self.screen();
        let rows = screen.lines().skip(2).take_while(|line| !line.is_empty() && !line.starts_with(" tasks"));
        rows.map(|line| line.chars().skip(14).take_while(|c| *c != ' ').collect()).collect()
    }
}

/// The text of a screen without the spaces at the end of lines.
pub fn lines(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let row = |y: u16| {
        let (mut text, mut x) = (String::new(), 0);
        while x < buffer.area.width {
            let symbol = buffer.cell((x, y)).unwrap().symbol();
            text.push_str(symbol);
            x += u16::try_from(ratatui::text::Span::raw(symbol).width().max(1)).unwrap();
        }
        text.trim_end().to_string()
    };
    (0..buffer.area.height).map(row).collect()
}

pub fn row(id: &str, status: AgentStatus) -> AgentRow {
    AgentRow {
        id: id.into(),
        name: id.into(),
        client: None,
        status,
        session: Some(format!("session-of-{id}")),
        project: "/home/ada/work/shop".into(),
        task: None,
        effort: None,
        since: NOW.plus(-65_000),
        phase: None,
        state: Some("active"),
        context_percent: None,
        tool: None,
        verdict: None,
        why: None,
        doing: None,
        seen: None,
        sub_agents: 0,
        messages: 0,
        pane: None,
        place: None,
        process: None,
        last_words: None,
        branch: None,
        diff: None,
        diff_note: None,
        model: None,
        cost_usd: None,
        cost_estimated: false,
        tokens: None,
        failed_tool: None,
        cards: Vec::new(),
        run: None,
        remote: None,
    }
}

fn tool(name: &str, about: &str, ago: i64) -> Option<RunningCall> {
    Some(RunningCall { name: name.into(), about: about.into(), since: NOW.plus(-ago), beside: 0 })
}

fn verdict(agent: &str, verdict: &'static str, rule: &str, about: &str, ago: i64) -> Verdict {
    Verdict {
        agent: agent.into(),
        agent_name: agent.into(),
        at: NOW.plus(-ago),
        verdict,
        event: "PreToolUse".into(),
        tool: Some("Bash".into()),
        about: about.into(),
        rules: vec![rule.into()],
        reason: Some(format!("{rule} stands in the way of it")),
    }
}

/// Eight agents of every kind; one of them wide, one hostile.
pub fn rows() -> Vec<AgentRow> {
    let cleaned = dash::view_model::clean("evil\u{1b}[2J\u{202e}agent");
    vec![
        AgentRow {
            context_percent: Some(41.5),
            tool: tool("Bash", "cargo test --workspace", 12_000),
            ..row("api", AgentStatus::Working)
        },
        AgentRow {
            context_percent: Some(96.2),
            since: NOW.plus(-7_200_000),
            task: Some("shop/17".into()),
            effort: Some("implement".into()),
            phase: Some("3: tests".into()),
            messages: 2,
            pane: Some("/tmp/tmux-1/default %7".into()),
            ..row("db-migrate", AgentStatus::Error)
        },
        AgentRow {
            context_percent: Some(78.0),
            tool: tool("Edit", "/home/ada/work/compiler/src/syntax/grammar/expressions_and_patterns.rs", 400),
            project: "/home/ada/work/compiler".into(),
            sub_agents: 3,
            ..row("compiler-parser", AgentStatus::Working)
        },
        AgentRow {
            since: NOW.plus(-240_000),
            why: Some("permission for Bash: git push".into()),
            ..row("web", AgentStatus::Attention)
        },
        AgentRow { since: NOW.plus(-600_000), ..row("auth", AgentStatus::Attention) },
        AgentRow {
            doing: Some("writes the chapter on leases".into()), ..row("日本語の文書", AgentStatus::Working)
        },
        AgentRow { state: Some("idle"), since: NOW.plus(-90_000_000), ..row("docs", AgentStatus::Done) },
        AgentRow {
            session: None,
            state: None,
            project: "/srv/中文/prøject".into(),
            ..row(&cleaned, AgentStatus::Checked)
        },
    ]
}

pub fn snapshot() -> FleetSnapshot {
    let totals = |project: &str, counts: &[(&str, u64)]| TaskTotals {
        project: project.into(),
        counts: counts.iter().map(|(name, count)| ((*name).to_string(), *count)).collect::<BTreeMap<_, _>>(),
    };
    FleetSnapshot {
        rows: rows(),
        verdicts: vec![
            verdict("web", "deny", "git-force-push", "git push --force origin main", 5_000),
            verdict("db-migrate", "ask", "sql-drop", "psql -c 'drop table orders'", 61_000),
            verdict("api", "warn", "git-no-verify", "git commit --no-verify -m 'wip'", 3_700_000),
        ],
        tasks: vec![
            totals("/home/ada/work/shop", &[("open", 12), ("active", 3), ("done", 140)]),
            totals("/home/ada/work/compiler", &[("open", 4), ("blocked", 2), ("quarantined", 1)]),
        ],
        warnings: Vec::new(),
        had_sessions: true,
    }
}

/// A stored event of the session of `api`.
pub fn event(nth: u32, name: &str, tool: Option<&str>, detail: Value) -> Event {
    let at = NOW.plus(i64::from(nth) * 1000 - 60_000);
    Event {
        key: format!("key-{nth}"),
        session: Some("session-of-api".into()),
        tool: tool.map(str::to_string),
        detail,
        ..Event::noted(name, "api", format!("id-{nth}"), at)
    }
}

/// A short session: a prompt, a tool that came back, one that failed, one that was stopped, something told.
pub fn chunk() -> Chunk {
    let bash = |call: &str, command: &str| json!({"input": {"command": command}, "call": call});
    let returned = json!({"input": {"command": "cargo test"}, "call": "c1", "duration_ms": 3210});
    let failed = json!({"input": {"command": "make"}, "call": "c2", "error": "exit 2"});
    let mut denied = event(7, "PreToolUse", Some("Bash"), bash("c3", "git push --force"));
    denied.verdict = Level::Deny;
    denied.rules = vec!["git-force-push".into()];
    denied.reason = Some("It overwrites what others pushed.\nUse --force-with-lease.".into());
    let mut told = event(1, "UserPromptSubmit", None, json!({"prompt": "make the tests pass\nand be careful"}));
    let context = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "The last session left a note.\nRead it."}});
    told.answer.stdout = context.to_string();
    Chunk {
        session: "session-of-api".into(),
        events: vec![
            event(0, "SessionStart", None, json!({"source": "startup"})),
            told,
            event(2, "PreToolUse", Some("Bash"), bash("c1", "cargo test")),
            event(3, "PreToolUse", Some("Bash"), bash("c2", "make")),
            event(4, "PostToolUse", Some("Bash"), returned),
            event(5, "PostToolUseFailure", Some("Bash"), failed),
            event(6, "PostToolBatch", None, json!({"calls": []})),
            denied,
            event(
                8,
                "PreToolUse",
                Some("Read"),
                json!({"input": {"file_path": "/home/ada/work/shop/src/lib.rs"}, "call": "c4"}),
            ),
        ],
    }
}

/// The timeline of `api`, opened and read.
pub fn timeline(width: u16, height: u16) -> TopView {
    TopView::with_fleet(width, height).typed("/api").key(Key::Enter).key(Key::Enter).then(ViewInput::Timeline(chunk()))
}
