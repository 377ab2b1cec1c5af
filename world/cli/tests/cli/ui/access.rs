//! Who is let in: this machine, this user's own page, with the token, to read.

use testkit::AgentStep;
use testkit::stage::Stage;
use testkit::stage::http::raw;

const API: &[&str] = &[
    "/api/fleet", "/api/tasks", "/api/guard", "/api/stats", "/api/recall?words=x", "/api/session/x",
    "/api/session/x?before=00", "/events",
];

#[test]
fn f4_without_the_token_nothing_is_told_and_no_reason_given() {
    let stage = Stage::without_daemon();
    stage.agent("secret-agent").play(&[AgentStep::start(), AgentStep::prompt("secret plan")]).unwrap();
    let page = stage.page();
    let host = page.host();
    let other = page.token.replace(&page.token[..1], if page.token.starts_with('0') { "1" } else { "0" });
    for path in API {
        for token in ["", "x", &other, &page.token[1..]] {
            let answer = page.send("GET", path, &[("Host", &host), ("X-Taut-Token", token)]);
            assert_eq!((answer.status, answer.body.as_str()), (401, ""), "{path} {token}");
        }
        let in_the_address = page.send("GET", &format!("{path}?token={}", page.token), &[("Host", &host)]);
        assert_eq!(in_the_address.status, 401, "the token is not taken from an address");
        let as_cookie = format!("taut-token={}", page.token);
        assert_eq!(page.send("GET", path, &[("Host", &host), ("Cookie", &as_cookie)]).status, 401);
    }
    // The page itself is the same for everybody.
    for path in ["/", "/app.js", "/style.css"] {
        let answer = page.send("GET", path, &[("Host", &host)]);
        assert_eq!(answer.status, 200);
        assert!(!answer.body.contains("secret-agent") && !answer.body.contains("secret plan"), "{path}");
        assert!(!answer.body.contains(&page.token), "{path}");
    }
}

#[test]
fn f4_only_its_own_names_are_answered_so_that_no_other_name_can_be_made_to_lead_here() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let port = page.port;
    let asked = |host: &str| page.send("GET", "/api/fleet", &[("Host", host), ("X-Taut-Token", &page.token)]).status;
    for ours in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(asked(&ours), 200, "{ours}");
    }
    for foreign in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("0.0.0.0:{port}"),
        String::new(),
    ] {
        assert_eq!(asked(&foreign), 421, "{foreign}");
    }
    let none = page.send("GET", "/api/fleet", &[("X-Taut-Token", &page.token)]);
    assert!(matches!(none.status, 400 | 421), "no host at all: {}", none.status);
    let twice = [("Host", page.host()), ("Host", "evil.example".into()), ("X-Taut-Token", page.token.clone())];
    let twice: Vec<(&str, &str)> = twice.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_ne!(page.send("GET", "/api/fleet", &twice).status, 200);
    assert_eq!(raw(port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 421, "the page itself, too");
}

#[test]
fn f4_a_foreign_site_is_turned_away_whatever_it_knows() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let host = page.host();
    let asked = |path: &str, more: &[(&str, &str)]| {
        let mut headers = vec![("Host", host.as_str()), ("X-Taut-Token", page.token.as_str())];
        headers.extend(more);
        page.send("GET", path, &headers).status
    };
    let own = format!("http://{host}");
    assert_eq!(asked("/api/fleet", &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]), 200);
    for origin in ["https://evil.example", "null", "http://127.0.0.1", &format!("https://{host}"), "file://"] {
        assert_eq!(asked("/api/fleet", &[("Origin", origin)]), 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "anything"] {
        assert_eq!(asked("/api/fleet", &[("Sec-Fetch-Site", site)]), 403, "{site}");
        assert_eq!(asked("/app.js", &[("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors")]), 403, "{site}");
        let link = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
        assert_eq!(asked("/", &link), 200, "a link may lead to the page, which shows nothing without the token");
        assert_eq!(asked("/api/fleet", &link), 403, "but not to what it is told");
        let frame = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")];
        assert_eq!(asked("/", &frame), 403, "{site}");
    }
}

#[test]
fn f4_it_reads_only_and_says_so() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let host = page.host();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"] {
        for path in ["/", "/api/fleet", "/events", "/nowhere"] {
            let headers = [("Host", host.as_str()), ("X-Taut-Token", &page.token), ("Content-Length", "0")];
            let answer = page.send(method, path, &headers);
            assert!(matches!(answer.status, 405 | 400), "{method} {path}: {}", answer.status);
        }
    }
    let refused = page.send("POST", "/api/fleet", &[("Host", &host), ("X-Taut-Token", &page.token)]);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
    let head = page.send("HEAD", "/api/fleet", &[("Host", &host), ("X-Taut-Token", &page.token)]);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn f4_every_answer_is_hardened_a_refusal_too() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let host = page.host();
    let answers = [
        page.get("/"),
        page.get("/app.js"),
        page.get("/api/fleet"),
        page.get("/nowhere"),
        page.send("GET", "/api/fleet", &[("Host", &host)]),
        page.send("POST", "/", &[("Host", &host)]),
        page.send("GET", "/", &[("Host", "evil.example")]),
    ];
    for answer in &answers {
        let csp = answer.header("content-security-policy").unwrap_or_default();
        for part in [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'",
            "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
        ] {
            assert!(csp.contains(part), "{part} in {}", answer.head);
        }
        assert!(!csp.contains("unsafe") && !csp.contains('*') && !csp.contains("data:"), "{csp}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.head);
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("set-cookie"), None);
    }
}

#[test]
fn f4_a_path_leads_nowhere_but_to_what_is_served() {
    let stage = Stage::without_daemon();
    stage.agent("a").play(&[AgentStep::start()]).unwrap();
    let page = stage.page();
    for path in [
        "/../Cargo.toml", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/assets/app.js",
        "/index.html/..", "/app.js/", "/api", "/api/", "/api/session/", "/api/session/../fleet",
        "/api/session/..%2ffleet", "/api/session/%00", "/api/session/%ff", "/api/session/'%20OR%201=1--",
    ] {
        let answer = page.get(path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains("root:"), "{path}");
    }
}

#[test]
fn f4_it_listens_on_loopback_alone_and_a_taken_port_is_an_error_with_a_hint() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    assert!(page.url.starts_with("http://127.0.0.1:"), "{}", page.url);
    assert!(page.token.len() >= 32, "128 bits at least");
    // Any other address of this machine is another socket.
    if let Ok(addresses) = std::net::ToSocketAddrs::to_socket_addrs(&("0.0.0.0", page.port)) {
        for mut address in addresses {
            address.set_ip([127, 0, 0, 2].into());
            assert!(std::net::TcpStream::connect(address).is_err(), "{address}");
        }
    }
    let taken = stage.sandbox.taut(&["ui", "--no-open", "--port", &page.port.to_string()], b"").unwrap();
    assert_eq!(taken.code(), Some(1));
    assert!(taken.stderr_text().contains("--port"), "{}", taken.stderr_text());
    assert_eq!(taken.stdout_text(), "");
}
