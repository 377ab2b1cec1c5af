//! Writes, from the request to what is done, with another hand in the place of `actions`.

use super::*;
use crate::web::acts::{NumberedChoice, PageChoice};
use crate::web::fleet_cache::FleetCache;
use crate::web::presence::Presence;
use crate::web::token::Token;
use crate::web::visitor::{ServerNames, TOKEN, Writes};
use axum::Router;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tempfile::TempDir;

/// A page with one who only writes down what was asked.
struct Site {
    router: Router,
    access: Arc<WriteAccess>,
    token: Token,
    done: Arc<Mutex<Vec<PageAct>>>,
    _folder: TempDir,
}

impl Site {
    fn new() -> Self {
        Self::with(|_| Ok(json!({"done": "so it was"})))
    }

    fn with(outcome: impl Fn(&PageAct) -> Result<Value, ActionError> + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let done: Arc<Mutex<Vec<PageAct>>> = Arc::default();
        let asked = Arc::clone(&done);
        let perform: Box<Perform> = Box::new(move |act| {
            asked.lock().unwrap().push(act.clone());
            outcome(act)
        });
        let visitor: CheckVisitor = |_| Ok(());
        let access = WriteAccess { presence: Presence::new().unwrap(), perform, visitor, limit: WriteLimit::default() };
        let (access, token) = (Arc::new(access), Token::fresh().unwrap());
        let names = Arc::new(ServerNames { port: 4711, token: token.clone(), writes: Writes::Taken });
        let cache = FleetCache::new(folder.path()).unwrap();
        let router = crate::web::router(names, (cache, axum::Router::new()), Some(Arc::clone(&access)));
        Self { router, access, token, done, _folder: folder }
    }

    fn permit(&self) -> String {
        self.access.presence.confirm(self.access.presence.code(), now()).unwrap().text().to_owned()
    }

    /// As our own script sends it.
    fn post(&self, path: &str, permit: &str, body: &str) -> (u16, Value) {
        let request = Request::builder()
            .method("POST")
            .uri(path)
            .header("host", "localhost:4711")
            .header("origin", "http://localhost:4711")
            .header("content-type", "application/json")
            .header(TOKEN, self.token.text())
            .header(PERMIT, permit);
        let mut request = request.body(Body::from(body.to_owned())).unwrap();
        request.extensions_mut().insert(Arc::new(Arc::new(crate::web::connections::Connections::default()).enter()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let response = TowerToHyperService::new(self.router.clone()).call(request).await.unwrap();
            let status = response.status().as_u16();
            let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
            (status, serde_json::from_slice(&bytes).unwrap_or_default())
        })
    }

    fn done(&self) -> Vec<PageAct> {
        self.done.lock().unwrap().clone()
    }
}

const ANSWER: &str = r#"{"digest":"d","answer":{"say":"allow_once"}}"#;

#[test]
fn f4_an_act_needs_the_code_once_and_again_after_a_pause() {
    let site = Site::new();
    for permit in ["", "0", site.access.presence.code(), site.token.text()] {
        let (status, told) = site.post("/api/card/c/answer", permit, ANSWER);
        assert_eq!((status, &told["confirm"]), (428, &json!(true)), "{permit}");
    }
    assert_eq!(site.done(), [], "nothing was done for whoever only has the token");
    let code = json!({"code": site.access.presence.code()}).to_string();
    let (status, told) = site.post("/api/confirm", "", &code);
    assert_eq!(status, 200);
    let permit = told["permit"].as_str().unwrap();
    assert_eq!(site.post("/api/card/c/answer", permit, ANSWER).0, 200);
    assert_eq!(site.done().len(), 1);
    assert!(!site.access.presence.is_here(permit.as_bytes(), now() + crate::web::presence::PAUSE_MS));
    let (status, told) = site.post("/api/card/c/answer", permit, ANSWER);
    assert_eq!((status, &told["confirm"]), (428, &json!(true)), "the pause has ended it for good");
    assert_eq!(site.done().len(), 1);
}

#[test]
fn f4_every_act_of_the_page_is_read_as_what_it_says_and_nothing_else_is_done() {
    let site = Site::new();
    let permit = site.permit();
    let card = |answer| PageAct::Answer { card: "c".into(), answer: PageAnswer { digest: "d".into(), answer } };
    let agent = |act| PageAct::Agent { agent: "a/b".into(), act };
    let both = NumberedChoice { labels: vec![0, 2], words: None };
    let own = NumberedChoice { labels: Vec::new(), words: Some("both".into()) };
    let cases = [
        ("/api/card/c/answer", ANSWER, card(PageChoice::AllowOnce)),
        (
            "/api/card/c/answer",
            r#"{"digest":"d","answer":{"say":"deny","words":"no"}}"#,
            card(PageChoice::Deny { words: "no".into() }),
        ),
        (
            "/api/card/c/answer",
            r#"{"digest":"d","answer":{"say":"choose","chosen":[{"labels":[0,2]},{"words":"both"}]}}"#,
            card(PageChoice::Choose { chosen: vec![both, own] }),
        ),
        ("/api/agent/a%2Fb/say", r#"{"text":"go on"}"#, agent(AgentAct::Say { text: "go on".into() })),
        ("/api/agent/a%2Fb/seen", "{}", agent(AgentAct::Seen)),
        ("/api/agent/a%2Fb/stop", "{}", agent(AgentAct::Stop)),
        ("/api/agent/a%2Fb/restart", "{}", agent(AgentAct::Restart)),
        ("/api/agent/a%2Fb/pane", "{}", agent(AgentAct::Pane)),
        ("/api/agent/a%2Fb/take-up", "{}", agent(AgentAct::TakeUp)),
        (
            "/api/agent/a%2Fb/allow-rule",
            r#"{"rule":"r","agreed":"here"}"#,
            agent(AgentAct::AllowRule { rule: "r".into(), agreed: Some("here".into()) }),
        ),
    ];
    for (path, body, expected) in cases {
        assert_eq!(site.post(path, &permit, body).0, 200, "{path} {body}");
        assert_eq!(site.done().last(), Some(&expected), "{path} {body}");
    }
    let before = site.done().len();
    for (path, body) in [
        ("/api/card/c/answer", ""),
        ("/api/card/c/answer", "{}"),
        ("/api/card/c/answer", r#"{"digest":"d","answer":{"say":"allow_always"}}"#),
        ("/api/card/c/answer", r#"{"digest":"d","answer":{"say":"deny","words":"x","interrupt":true}}"#),
        ("/api/card/c/answer", r#"{"digest":"d","answer":{"say":"allow_once"},"updatedInput":{}}"#),
        ("/api/agent/a/say", "{}"),
        ("/api/agent/a/stop", r#"{"text":"x"}"#),
        ("/api/agent/a/kill", "{}"),
    ] {
        assert_eq!(site.post(path, &permit, body).0, 400, "{path} {body}");
    }
    assert_eq!(site.done().len(), before);
}

#[test]
fn f4_what_is_too_long_or_too_fast_is_refused_and_a_refusal_is_told_in_words() {
    let site = Site::with(|_| Err(ActionError::Refused("it was answered at the terminal\u{1b}[2J".into())));
    let permit = site.permit();
    let long = json!({"text": "x".repeat(MOST_BYTES)}).to_string();
    assert_eq!(site.post("/api/agent/a/say", &permit, &long).0, 413);
    let (status, told) = site.post("/api/card/c/answer", &permit, ANSWER);
    assert_eq!(status, 409);
    let words = told["error"].as_str().unwrap();
    assert!(words.starts_with("it was answered at the terminal") && !words.contains('\u{1b}'), "{words}");
    let many: Vec<u16> = (0..30).map(|_| site.post("/api/agent/a/seen", &permit, "{}").0).collect();
    assert_eq!(many.last(), Some(&429), "{many:?}");
}

#[test]
fn f4_writes_are_taken_again_after_a_moment() {
    let limit = WriteLimit::default();
    assert_eq!((0..50).filter(|_| limit.takes(1_000_000)).count(), 20);
    assert!(!limit.takes(1_000_400) && limit.takes(1_000_600) && !limit.takes(1_000_700));
    assert_eq!((0..50).filter(|_| limit.takes(9_000_000)).count(), 20);
}
