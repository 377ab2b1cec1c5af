//! Every way to be turned away, one line each.

use super::*;

fn house() -> ServerNames {
    ServerNames { port: 4711, token: Token::fresh().unwrap() }
}

fn asked(house: &ServerNames, path: &str, headers: &[(&str, &str)]) -> Result<(), StatusCode> {
    let mut request = Request::builder().uri(path).body(()).unwrap();
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
