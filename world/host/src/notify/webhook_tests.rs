//! What goes to curl, and what is made of the answer.

use super::*;

const ASKED: WebhookRequest<'_> = WebhookRequest {
    url: "https://told.example/services/T0SECRET0/x",
    token: Some("tk_verysecret"),
    body: "{\"text\":\"a \\\"b\\\" \\\\ c\"}",
};

#[test]
fn f5_no_text_can_become_an_option_of_curl() {
    let hostile = WebhookRequest { body: "x\"\noutput = \"/etc/passwd\"\r\n\0url = \"http://evil\"", ..ASKED };
    let lines = config(&hostile, Duration::from_secs(10));
    let names: Vec<&str> = lines.lines().map(|line| line.split(" = ").next().unwrap()).collect();
    assert_eq!(
        names,
        [
            "silent", "include", "globoff", "path-as-is", "proto", "noproxy", "max-time", "connect-timeout",
            "max-redirs", "user-agent", "header", "header", "header", "data-raw", "url"
        ]
    );
    assert!(lines.contains(r#"data-raw = "x\"\noutput = \"/etc/passwd\"\nurl = \"http://evil\"""#), "{lines}");
    assert!(lines.contains("proto = \"=https\""));
    let plain = config(&WebhookRequest { url: "http://127.0.0.1:1/", token: None, ..ASKED }, Duration::from_secs(10));
    assert!(plain.contains("proto = \"=http\"") && !plain.contains("Authorization"));
}

#[test]
fn f5_an_answer_says_whether_it_was_taken_may_be_tried_again_or_never_will_be() {
    let of = |text: &str| answered(text, &ASKED);
    assert_eq!(of("HTTP/1.1 200 OK\r\nX: y\r\n\r\nok"), SendResult::Sent);
    assert_eq!(of("HTTP/1.1 100 Continue\r\n\r\nHTTP/2 204\r\n\r\n"), SendResult::Sent);
    let later = |text: &str| match of(text) {
        SendResult::Later { why, after } => (why, after),
        other => panic!("{other:?}"),
    };
    let (why, after) = later("HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\n\r\nslow down\n");
    assert_eq!((why.as_str(), after), ("it answered 429: slow down", Some(Duration::from_secs(7))));
    assert_eq!(later("HTTP/1.1 429 x\r\nretry-after: 99999\r\n\r\n").1, None, "so old would be no news");
    assert_eq!(later("HTTP/1.1 503 x\r\nretry-after: Wed, 21 Oct\r\n\r\n").1, None);
    assert!(later("not HTTP at all").0.contains("does not speak HTTP"));
    for refused in
        ["HTTP/1.1 301 Moved\r\nLocation: http://evil\r\n\r\n", "HTTP/1.1 404 x\r\n\r\n", "HTTP/1.1 401 x\r\n\r\n"]
    {
        assert!(matches!(of(refused), SendResult::Refused(_)), "{refused}");
    }
}

#[test]
fn f5_what_a_service_says_back_holds_no_secret_and_moves_no_cursor() {
    let echo = format!("HTTP/1.1 400 x\r\n\r\n\u{1b}[31mbad {} at {}\n", ASKED.token.unwrap(), ASKED.url);
    let SendResult::Refused(why) = answered(&echo, &ASKED) else { panic!() };
    assert!(!why.contains("verysecret") && !why.contains("T0SECRET0") && !why.contains('\u{1b}'), "{why}");
}

#[test]
fn f5_a_secret_is_read_only_where_nobody_else_can() {
    let root = tempfile::tempdir().unwrap();
    let place =
        NotifyPrograms { home: root.path().to_owned(), state: root.path().join("s"), limit: Duration::from_secs(60) };
    let read = || secret(Some("~/token"), &[], &place);
    let why = || read().unwrap_err().to_string();
    assert!(
        why().contains("no such file; write the secret there") && why().contains("`taut notify test`"),
        "{}",
        why()
    );
    let path = root.path().join("token");
    std::fs::write(&path, "\n  tk_abc  \nmore\n").unwrap();
    let mode = |mode: u32| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    let said = read().unwrap_err().to_string();
    assert!(said.contains("chmod 600") && !said.contains("tk_abc"), "{said}");
    mode(0o600);
    assert_eq!(read().unwrap().as_deref(), Some("tk_abc"));
    for (held, said) in [("tk abc\n", "blanks"), ("tk\u{7}\n", "blanks"), ("", "it is empty"), (" \n\n", "it is empty")]
    {
        std::fs::write(&path, held).unwrap();
        assert!(why().contains(said) && !why().contains("tk"), "{held:?}: {}", why());
    }
    std::fs::write(&path, "a".repeat(9_000)).unwrap();
    assert!(why().contains("more than 8192 bytes"), "{}", why());
    assert_eq!(secret(None, &[], &place).unwrap(), None);
    let echo = ["/bin/echo".to_string(), "tk_from_keyring".to_string()];
    assert_eq!(secret(None, &echo, &place).unwrap().as_deref(), Some("tk_from_keyring"));
    let of = |command: &[&str]| {
        let words: Vec<String> = command.iter().map(ToString::to_string).collect();
        secret(None, &words, &place).unwrap_err().to_string()
    };
    let failed = of(&["/bin/sh", "-c", "echo tk_leaked; exit 3"]);
    assert!(failed.contains("exit 3") && failed.contains("in a terminal"), "{failed}");
    assert!(!failed.replace("echo tk_leaked", "").contains("tk_leaked"), "what it said may be the secret: {failed}");
    let none = of(&["/no/such/keyring"]);
    assert!(none.contains("/no/such/keyring") && !none.contains("notify on"), "{none}");
}

#[test]
fn f5_a_program_that_never_stops_talking_is_ended() {
    let root = tempfile::tempdir().unwrap();
    let place =
        NotifyPrograms { home: root.path().to_owned(), state: root.path().join("s"), limit: Duration::from_secs(600) };
    let mut talks = std::process::Command::new("/bin/sh");
    talks.args(["-c", "while :; do head -c 100000 /dev/zero; done"]);
    let (status, said) = ended(&mut talks, "sh", b"", &place).unwrap();
    assert_eq!(status.code(), None);
    assert!(said_too_much(&said));
}

#[test]
fn f5_an_address_that_is_wrong_says_so_and_how_to_mend_it() {
    let moved = answered("HTTP/1.1 308 x\r\nLocation: https://evil.example/\u{1b}[31m\r\n\r\nmoved", &ASKED);
    for (result, said) in
        [(moved, "308"), (failed(Some(1)), "HTTP"), (failed(Some(8)), "HTTP"), (failed(Some(3)), "read")]
    {
        let SendResult::Refused(why) = result else { panic!("{said}") };
        assert!(
            why.contains(said) && why.contains("[[notify.webhook]]") && why.contains("`taut config edit`"),
            "{why}"
        );
        assert!(
            !why.contains("evil") && !why.contains('\u{1b}'),
            "where it wants us to go is none of our words: {why}"
        );
    }
}
