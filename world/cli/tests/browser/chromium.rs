//! A real headless Chromium, driven over a pair of pipes: no port, no driver.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one tab.
pub struct Chromium {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    tab: Option<String>,
    last: u64,
    /// Everything the tab told by itself.
    pub told: Vec<Value>,
}

impl Chromium {
    pub fn start(sandbox: &Sandbox) -> io::Result<Self> {
        let (child_reads, commands) = pipe()?;
        let (answers, child_writes) = pipe()?;
        let profile = sandbox.tmp().join("chromium");
        let mut command = sandbox.command(program()?);
        command.args(["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run"]);
        command.args(["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--mute-audio"]);
        command.args(["--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb"]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (read, write) = (child_reads.as_raw_fd(), child_writes.as_raw_fd());
        // SAFETY: only calls that are allowed between fork and exec. The two ends are first moved out of the way,
        // because either may have one of the numbers that the other is to get.
        unsafe {
            command.pre_exec(move || {
                let (read, write) = (libc::fcntl(read, libc::F_DUPFD, 10), libc::fcntl(write, libc::F_DUPFD, 10));
                if read < 0 || write < 0 || libc::dup2(read, 3) < 0 || libc::dup2(write, 4) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        let (tell, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for message in BufReader::new(File::from(answers)).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let commands = File::from(commands);
        let mut chromium = Self { child, commands, messages, tab: None, last: 0, told: Vec::new() };
        chromium.open_tab();
        Ok(chromium)
    }

    /// Another tab, which everything is about from now on; the one before, where there was one.
    pub fn open_tab(&mut self) -> Option<String> {
        let before = self.tab.take();
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", target);
        self.tab = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        before
    }

    /// Goes to another tab; the one that was left.
    pub fn switch(&mut self, tab: Option<String>) -> Option<String> {
        let left = std::mem::replace(&mut self.tab, tab);
        self.call("Page.bringToFront", json!({}));
        left
    }

    /// A press of the mouse in the middle of what the expression gives.
    pub fn click(&mut self, expression: &str) {
        let middle = format!(
            "(() => {{ const one = {expression}; one.scrollIntoView({{block: 'nearest'}}); \
             const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let middle = self.value(&middle);
        for kind in ["mousePressed", "mouseReleased"] {
            let at = json!({"type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", at);
        }
    }

    /// One key, as a keyboard gives it.
    pub fn key(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            " " => 32,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut press = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                press["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", press);
        }
    }

    pub fn write(&mut self, text: &str) {
        text.chars().for_each(|one| self.key(&one.to_string()));
    }

    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(tab) = &self.tab {
            message["sessionId"] = json!(tab);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).unwrap();
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(message) = self.messages.recv_timeout(left) else { panic!("{method}: no answer in {LIMIT:?}") };
            if message["id"] == json!(self.last) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.told.push(message);
        }
    }

    pub fn go(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url}));
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub fn scheme(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// The value of an expression in the page, waited for where it is a promise.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let done = self.call("Runtime.evaluate", params);
        assert!(done["exceptionDetails"].is_null(), "{expression}: {}", done["exceptionDetails"]);
        done["result"]["value"].clone()
    }

    /// Asks until the expression is true.
    pub fn until(&mut self, expression: &str) {
        let deadline = Instant::now() + LIMIT;
        while self.value(expression) != json!(true) {
            if Instant::now() > deadline {
                let page = self.value("document.body ? document.body.innerText : ''");
                panic!("waited in vain for {expression} on this page:\n{}", page.as_str().unwrap_or_default());
            }
            self.value("new Promise(done => setTimeout(done, 40))");
        }
    }

    pub fn picture(&mut self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png", "optimizeForSpeed": false}));
        unbase64(shot["data"].as_str().unwrap_or_default())
    }

    /// What went wrong in the page: exceptions, refused by the policy, dialogs.
    pub fn complaints(&self) -> Vec<String> {
        let bad = |message: &&Value| match message["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Page.javascriptDialogOpening") => true,
            Some("Log.entryAdded") => message["params"]["entry"]["level"] == "error",
            Some("Runtime.consoleAPICalled") => message["params"]["type"] == "error",
            _ => false,
        };
        self.told.iter().filter(bad).map(ToString::to_string).collect()
    }

    /// Every address the page asked for.
    pub fn asked_for(&self) -> Vec<String> {
        let requests = self.told.iter().filter(|message| message["method"] == "Network.requestWillBeSent");
        requests.filter_map(|message| message["params"]["request"]["url"].as_str().map(str::to_owned)).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> io::Result<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).exists());
    NAMES.iter().find(is_there).copied().ok_or_else(|| io::Error::other("no Chromium: apt-get install chromium"))
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are owned from then on.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

fn unbase64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sixes: Vec<u32> =
        text.bytes().filter_map(|byte| LETTERS.iter().position(|at| *at == byte)).map(|at| at as u32).collect();
    let four = |part: &[u32]| {
        let bits = part.iter().fold(0, |bits, six| bits << 6 | six) << (6 * (4 - part.len()));
        bits.to_be_bytes()[1..part.len()].to_vec()
    };
    sixes.chunks(4).flat_map(four).collect()
}
