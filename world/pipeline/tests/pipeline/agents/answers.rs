//! The guard's answers through every agent's shell tool, as each of them takes them.

use crate::home::PipelineHome;
use model::Level;

#[test]
fn a1_what_is_denied_is_denied_what_is_asked_is_asked_or_denied_and_what_passes_is_met_with_silence() {
    for dialect in agents::ALL.0 {
        let mut stage = PipelineHome::new();
        let client = stage.client("s").speaking(dialect.id());
        let cwd = client.cwd.to_string_lossy().into_owned();
        let mut said = |line: &str| {
            let payload = (dialect.settings.proof.payload)(&cwd, "s", line);
            let served = stage.send_bytes(&client, payload.into_bytes());
            let denial = (dialect.settings.proof.denial)(&served.answer.stdout);
            (served.answer.stdout, denial, served.event.unwrap().verdict)
        };
        let name = dialect.id();
        let (stdout, denial, verdict) = said("rm -rf /");
        assert!(denial.is_some_and(|why| why.contains("[rm-root]")), "{name}: {stdout}");
        assert_eq!(verdict, Level::Deny, "{name}");
        let (stdout, denial, verdict) = said("psql -c 'DROP TABLE users'");
        let asks = dialect.profile.expresses.ask;
        assert_eq!((denial.is_none(), verdict == Level::Ask), (asks, asks), "{name}: {stdout}");
        assert!(stdout.contains("[sql-destroy]"), "{name}: {stdout}");
        assert_eq!(said("ls -la"), (String::new(), None, Level::Pass), "{name}");
    }
}
