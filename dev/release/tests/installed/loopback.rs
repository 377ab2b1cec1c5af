//! A folder of packages on loopback: every file under its name, and every npm package as a registry describes it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use flate2::read::GzDecoder;
use release::VERSION;
use serde_json::{Value, json};

/// Serves for as long as the tests run.
pub struct Loopback {
    port: u16,
}

impl Loopback {
    pub fn start(folder: PathBuf) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folder = folder.clone();
                // A client that goes away in the middle is none of ours.
                thread::spawn(move || drop(answer(stream, &folder, port)));
            }
        });
        Self { port }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn answer(mut stream: TcpStream, folder: &Path, port: u16) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let name = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let plain = !name.is_empty() && !name.contains(['/', '%']);
    let body = fs::read(folder.join(&name)).ok().or_else(|| package(folder, &name, port)).filter(|_| plain);
    let (status, body) = body.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body)
}

/// What a registry says of a package.
fn package(folder: &Path, name: &str, port: u16) -> Option<Vec<u8>> {
    let file = format!("{name}-{VERSION}.tgz");
    let mut manifest = manifest(&fs::read(folder.join(&file)).ok()?)?;
    manifest["dist"] = json!({"tarball": format!("http://127.0.0.1:{port}/{file}")});
    let described = json!({"name": name, "dist-tags": {"latest": VERSION}, "versions": {VERSION: manifest}});
    Some(described.to_string().into_bytes())
}

fn manifest(tarball: &[u8]) -> Option<Value> {
    let mut archive = tar::Archive::new(GzDecoder::new(tarball));
    let mut entry = archive
        .entries()
        .ok()?
        .flatten()
        .find(|entry| entry.path().is_ok_and(|path| path.ends_with("package.json")))?;
    let mut text = String::new();
    entry.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
