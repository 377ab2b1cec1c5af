//! The network with bad manners, before a server that repeats what it hears.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use testkit::{NetworkProxy, ProxyMode, poll};

const LIMIT: Duration = Duration::from_secs(20);

/// A proxy before a server that answers with what it was told, and tells here what it heard on each connection.
fn before_an_echo() -> (NetworkProxy, Receiver<Vec<u8>>) {
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let proxy = NetworkProxy::to_tcp(server.local_addr().unwrap()).unwrap();
    let (tell, heard) = channel();
    thread::spawn(move || {
        for client in server.incoming() {
            let (mut client, tell) = (client.unwrap(), tell.clone());
            thread::spawn(move || {
                let (mut all, mut piece) = (Vec::new(), [0; 4096]);
                while let Some(many) = client.read(&mut piece).ok().filter(|many| *many > 0) {
                    all.extend_from_slice(&piece[..many]);
                    let _ = client.write_all(&piece[..many]);
                }
                let _ = tell.send(all);
            });
        }
    });
    (proxy, heard)
}

fn connect(proxy: &NetworkProxy) -> TcpStream {
    let client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    client
}

fn echo(client: &mut TcpStream, words: &str) -> String {
    client.write_all(words.as_bytes()).unwrap();
    let mut answer = vec![0; words.len()];
    client.read_exact(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// The proxy has had so many more pieces, so that another mode changes nothing for them.
fn until_decided(proxy: &NetworkProxy, pieces: usize) {
    poll::until("the proxy to have it", LIMIT, || (proxy.decided() >= pieces).then_some(())).unwrap();
}

/// Nothing came, and nobody said that nothing will.
fn is_silent(client: &mut TcpStream) -> bool {
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let read = client.read(&mut [0; 1]);
    client.set_read_timeout(Some(LIMIT)).unwrap();
    read.is_err_and(|cause| matches!(cause.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut))
}

#[test]
fn what_is_held_back_arrives_later_and_what_is_swallowed_never_does() {
    let (proxy, heard) = before_an_echo();
    let mut client = connect(&proxy);
    assert_eq!(echo(&mut client, "one"), "one");
    proxy.set(ProxyMode::HoldBack);
    client.write_all(b"two").unwrap();
    assert!(is_silent(&mut client));
    proxy.set(ProxyMode::Pass);
    let mut late = [0; 3];
    client.read_exact(&mut late).unwrap();
    assert_eq!(&late, b"two");
    proxy.set(ProxyMode::Swallow);
    let before = proxy.decided();
    client.write_all(b"three").unwrap();
    until_decided(&proxy, before + 1);
    assert!(is_silent(&mut client));
    proxy.set(ProxyMode::Pass);
    assert_eq!(echo(&mut client, "four"), "four");
    drop(client);
    assert_eq!(heard.recv_timeout(LIMIT).unwrap(), b"onetwofour");
}

#[test]
fn an_answer_can_be_lost_although_the_words_arrived_and_the_words_can_be_said_again() {
    let (proxy, heard) = before_an_echo();
    let mut client = connect(&proxy);
    assert_eq!(echo(&mut client, "hello"), "hello");
    proxy.set(ProxyMode::SwallowAnswers);
    let before = proxy.decided();
    client.write_all(b" there").unwrap();
    until_decided(&proxy, before + 2);
    assert!(is_silent(&mut client));
    assert_eq!(proxy.say_again().unwrap(), 1);
    assert_eq!(heard.recv_timeout(LIMIT).unwrap(), b"hello there", "over a connection of its own");
    drop(client);
    assert_eq!(heard.recv_timeout(LIMIT).unwrap(), b"hello there");
}

#[test]
fn who_is_told_much_again_and_answers_much_is_heard_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("echo");
    let server = UnixListener::bind(&socket).unwrap();
    thread::spawn(move || {
        for client in server.incoming() {
            let mut client = client.unwrap();
            thread::spawn(move || io::copy(&mut client.try_clone().unwrap(), &mut client));
        }
    });
    let proxy = NetworkProxy::to_unix(&socket).unwrap();
    // More than the buffers between two ends of a socket hold.
    let much = vec![b'x'; 900_000];
    let mut client = connect(&proxy);
    let mut hears = client.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| client.write_all(&much).unwrap());
        hears.read_exact(&mut vec![0; much.len()]).unwrap();
    });
    assert_eq!(proxy.say_again().unwrap(), 1);
}

#[test]
fn a_reset_is_one_and_a_connection_can_be_reset_in_the_middle_of_an_answer() {
    let (proxy, _heard) = before_an_echo();
    let mut client = connect(&proxy);
    assert_eq!(echo(&mut client, "one"), "one");
    proxy.reset();
    assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(proxy.open(), 0);
    proxy.set(ProxyMode::ResetAfter(4));
    let mut client = connect(&proxy);
    client.write_all(b"123456").unwrap();
    let mut read = Vec::new();
    let ended = client.read_to_end(&mut read).unwrap_err();
    assert!(ended.kind() == std::io::ErrorKind::ConnectionReset && read.len() <= 4, "{ended}: {read:?}");
    proxy.set(ProxyMode::Refuse);
    // The reset may be there before the connection is.
    let refused = TcpStream::connect(("127.0.0.1", proxy.port())).and_then(|mut client| {
        client.set_read_timeout(Some(LIMIT))?;
        client.read(&mut [0; 1])
    });
    assert!(refused.is_err());
}

#[test]
fn nonsense_is_as_long_as_what_it_stands_for() {
    let (proxy, _heard) = before_an_echo();
    proxy.set(ProxyMode::Nonsense);
    assert_eq!(echo(&mut connect(&proxy), "sense"), "?????");
}

#[test]
fn a_proxy_ends_with_its_value_whatever_it_holds_back() {
    let (proxy, _heard) = before_an_echo();
    let port = proxy.port();
    let mut client = connect(&proxy);
    proxy.set(ProxyMode::HoldBack);
    client.write_all(b"never").unwrap();
    drop(proxy);
    let read = client.read(&mut [0; 1]);
    let nothing_came = |cause: &io::Error| matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    assert!(matches!(&read, Ok(0)) || read.as_ref().is_err_and(|cause| !nothing_came(cause)), "they end: {read:?}");
    let gone =
        poll::until("the port to be free", LIMIT, || TcpStream::connect(("127.0.0.1", port)).is_err().then_some(()));
    gone.unwrap();
}
