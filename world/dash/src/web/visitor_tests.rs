//! Every way to be turned away, one line each.

use super::*;

fn house() -> ServerNames {
    ServerNames { port: 4711, token: Token::fresh().unwrap(), writes: Writes::Taken }
}

fn asked(house: &ServerNames, path: &str, headers: &[(&str, &str)]) -> Result<(), StatusCode> {
    sent(house, "GET", path, headers)
}

fn sent(house: &ServerNames, method: &str, path: &str, headers: &[(&str, &str)]) -> Result<(), StatusCode> {
    let mut request = Request::builder().method(method).uri(path).body(()).unwrap();
    for (name, value) in headers {
        request.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    house.admit(&request).map(drop)
}

#[test]
fn f4_the_hall_is_open_and_the_study_is_not() {
    let house = house();
    let ours = ("host", "localhost:4711");
    assert_eq!(asked(&house, "/", &[ours]), Ok(()));
    assert_eq!(asked(&house, "/app.js", &[ours]), Ok(()));
    for path in ["/events", "/api/fleet", "/api/session/x", "/api/"] {
        assert_eq!(asked(&house, path, &[ours]), Err(StatusCode::UNAUTHORIZED), "{path}");
        let token = house.token.text();
        assert_eq!(asked(&house, path, &[ours, (TOKEN, token)]), Ok(()), "{path}");
        let foreign = [("host", "evil:4711"), (TOKEN, token)];
        assert_eq!(asked(&house, path, &foreign), Err(StatusCode::MISDIRECTED_REQUEST), "{path}");
        let from = [ours, (TOKEN, token), ("origin", "http://evil:4711")];
        assert_eq!(asked(&house, path, &from), Err(StatusCode::FORBIDDEN), "{path}");
    }
}

#[test]
fn f4_a_header_that_is_told_twice_is_not_believed() {
    let house = house();
    let twice = [("host", "localhost:4711"), ("host", "127.0.0.1:4711")];
    assert_eq!(asked(&house, "/", &twice), Err(StatusCode::MISDIRECTED_REQUEST));
    let origins = [("host", "localhost:4711"), ("origin", "http://localhost:4711"), ("origin", "http://evil")];
    assert_eq!(asked(&house, "/", &origins), Err(StatusCode::FORBIDDEN));
}

const WRITES: &[&str] = &["/api/confirm", "/api/card/x/answer", "/api/agent/x/say"];

/// What our own script sends, but for what a case changes; an empty value takes the header out.
fn write(house: &ServerNames, changed: &[(&str, &str)]) -> Vec<Result<(), StatusCode>> {
    let ours = [
        ("host", "localhost:4711"),
        ("origin", "http://localhost:4711"),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
        ("sec-fetch-dest", "empty"),
        ("content-type", "application/json"),
        (TOKEN, house.token.text()),
    ];
    let kept = ours.iter().filter(|(name, _)| !changed.iter().any(|(other, _)| other == name));
    let headers: Vec<_> = kept.chain(changed.iter().filter(|(_, value)| !value.is_empty())).copied().collect();
    WRITES.iter().map(|path| sent(house, "POST", path, &headers)).collect()
}

#[test]
fn f4_only_our_own_script_writes_and_every_other_way_is_turned_away() {
    let house = house();
    let all = |status: Result<(), StatusCode>| vec![status; WRITES.len()];
    assert_eq!(write(&house, &[]), all(Ok(())));
    assert_eq!(write(&house, &[("content-type", "Application/JSON; charset=utf-8")]), all(Ok(())));
    // A browser that says less about itself still says its origin.
    let silent = [("sec-fetch-site", ""), ("sec-fetch-mode", ""), ("sec-fetch-dest", "")];
    assert_eq!(write(&house, &silent), all(Ok(())));
    let (forbidden, unknown) = (Err(StatusCode::FORBIDDEN), Err(StatusCode::UNAUTHORIZED));
    let (kind, elsewhere) = (Err(StatusCode::UNSUPPORTED_MEDIA_TYPE), Err(StatusCode::MISDIRECTED_REQUEST));
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Result<(), StatusCode>);
    let cases: &[Case<'_>] = &[
        ("no token", &[(TOKEN, "")], unknown),
        ("another token", &[(TOKEN, &"0".repeat(64))], unknown),
        ("no origin", &[("origin", "")], forbidden),
        ("another origin", &[("origin", "https://evil.example")], forbidden),
        ("an opaque origin", &[("origin", "null")], forbidden),
        ("our other name is another origin", &[("origin", "http://127.0.0.1:4711")], forbidden),
        ("another port of this machine", &[("origin", "http://localhost:4712")], forbidden),
        (
            "a name made to lead here",
            &[("host", "evil.example:4711"), ("origin", "http://evil.example:4711")],
            elsewhere,
        ),
        ("a page of another site", &[("sec-fetch-site", "cross-site")], forbidden),
        ("another port, as browsers say it", &[("sec-fetch-site", "same-site")], forbidden),
        ("typed into the address bar", &[("sec-fetch-site", "none")], forbidden),
        ("no-cors", &[("sec-fetch-mode", "no-cors")], forbidden),
        ("a form", &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")], forbidden),
        ("a form by its kind", &[("content-type", "application/x-www-form-urlencoded")], kind),
        ("a form with files", &[("content-type", "multipart/form-data; boundary=x")], kind),
        ("a beacon", &[("content-type", "text/plain;charset=UTF-8")], kind),
        ("json in plain text's clothes", &[("content-type", "text/plain; application/json")], kind),
        ("no kind", &[("content-type", "")], kind),
    ];
    for (name, changed, expected) in cases {
        assert_eq!(write(&house, changed), all(*expected), "{name}");
    }
}

#[test]
fn f4_nothing_is_written_where_nothing_is_done_nor_on_a_page_that_only_shows() {
    let house = house();
    let token = house.token.text().to_owned();
    let ours = [
        ("host", "localhost:4711"),
        ("origin", "http://localhost:4711"),
        ("content-type", "application/json"),
        (TOKEN, token.as_str()),
    ];
    let refused = Err(StatusCode::METHOD_NOT_ALLOWED);
    for path in ["/", "/app.js", "/events", "/api/fleet", "/api/session/x", "/api/standing", "/api/tasks"] {
        assert_eq!(sent(&house, "POST", path, &ours), refused, "{path}");
    }
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        assert_eq!(sent(&house, method, "/api/card/x/answer", &ours), refused, "{method}");
    }
    let showing = ServerNames { writes: Writes::Never, ..house };
    for path in WRITES {
        assert_eq!(sent(&showing, "POST", path, &ours), refused, "{path}");
    }
    assert_eq!(sent(&showing, "GET", "/api/fleet", &ours), Ok(()));
}
