//! What the process that does the work tells the one that answers.

use model::Answer;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideMessage {
    /// The state folder, as soon as it is known.
    Folder(String),
    /// What stands if nothing can be stored, and the event as the spool keeps it.
    Early { answer: Answer, event: String },
    /// The answer, stored, and not to be given before a checkpoint is made.
    Keeping(Answer),
    /// The answer, stored.
    Last(Answer),
}

impl SideMessage {
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Folder(folder) => fields(b'f', 0, &[folder]),
            Self::Early { answer, event } => fields(b'e', answer.exit, &[&answer.stdout, &answer.stderr, event]),
            Self::Keeping(answer) => fields(b'k', answer.exit, &[&answer.stdout, &answer.stderr]),
            Self::Last(answer) => fields(b'l', answer.exit, &[&answer.stdout, &answer.stderr]),
        }
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (&tag, rest) = bytes.split_first()?;
        let (&exit, mut rest) = rest.split_first()?;
        let mut text = || {
            let (length, after) = rest.split_first_chunk::<8>()?;
            let (text, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            rest = after;
            String::from_utf8(text.to_vec()).ok()
        };
        match tag {
            b'f' => Some(Self::Folder(text()?)),
            b'e' => Some(Self::Early { answer: Answer { stdout: text()?, stderr: text()?, exit }, event: text()? }),
            b'k' => Some(Self::Keeping(Answer { stdout: text()?, stderr: text()?, exit })),
            b'l' => Some(Self::Last(Answer { stdout: text()?, stderr: text()?, exit })),
            _ => None,
        }
    }
}

fn fields(tag: u8, exit: u8, texts: &[&str]) -> Vec<u8> {
    let mut bytes = vec![tag, exit];
    for text in texts {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::SideMessage;
    use model::Answer;

    #[test]
    fn what_is_said_is_heard_and_half_of_it_is_not() {
        let answer = Answer { stdout: "out\n".into(), stderr: String::new(), exit: 2 };
        for message in [
            SideMessage::Folder("/s".into()),
            SideMessage::Early { answer: answer.clone(), event: "{}".into() },
            SideMessage::Keeping(answer.clone()),
            SideMessage::Last(answer),
        ] {
            let bytes = message.write();
            assert_eq!(SideMessage::read(&bytes).as_ref(), Some(&message));
            for cut in 0..bytes.len() {
                assert_eq!(SideMessage::read(&bytes[..cut]), None, "{cut} of {message:?}");
            }
        }
    }
}
