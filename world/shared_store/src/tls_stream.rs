//! A TLS session as the database library wants one, with what binds a password to the server's certificate. The
//! published joint of the two libraries takes every certificate for one that it cannot read, so that nothing is bound.

use crate::wire::Wire;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// What is to be proven, and by which name.
pub(crate) struct Handshake {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

impl TlsConnect<Wire> for Handshake {
    type Stream = Session;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Session>> + Send>>;

    fn connect(self, wire: Wire) -> Self::Future {
        Box::pin(async move { TlsConnector::from(self.config).connect(self.name, wire).await.map(Session) })
    }
}

pub(crate) struct Session(tokio_rustls::client::TlsStream<Wire>);

impl TlsStream for Session {
    /// `tls-server-end-point` of RFC 5929: the certificate's digest, by the hash that it was signed with.
    fn channel_binding(&self) -> ChannelBinding {
        let certificate = self.0.get_ref().1.peer_certificates().and_then(|chain| chain.first());
        match certificate.and_then(|certificate| end_point(certificate)) {
            Some(digest) => ChannelBinding::tls_server_end_point(digest),
            None => ChannelBinding::none(),
        }
    }
}

impl AsyncRead for Session {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Session {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// `None` where the kind of signature names no hash of its own: then nothing can be bound.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    /// The identifiers of signatures, without what they all begin with.
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    let kind = signature_kind(certificate)?;
    match (kind.strip_prefix(RSA), kind.strip_prefix(ECDSA)) {
        // MD5 and SHA-1 count as SHA-256 there.
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => Some(Sha256::digest(certificate).to_vec()),
        (Some([12]), _) | (_, Some([3, 3])) => Some(Sha384::digest(certificate).to_vec()),
        (Some([13]), _) | (_, Some([3, 4])) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// The identifier of the signature: behind what was signed, the first thing of the second thing.
fn signature_kind(certificate: &[u8]) -> Option<&[u8]> {
    const SEQUENCE: u8 = 0x30;
    const IDENTIFIER: u8 = 0x06;
    let (within, _) = element(certificate, SEQUENCE)?;
    let (_, behind) = element(within, SEQUENCE)?;
    let (algorithm, _) = element(behind, SEQUENCE)?;
    element(algorithm, IDENTIFIER).map(|(kind, _)| kind)
}

/// What is in an element of this kind (DER), and what is behind it.
fn element(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk::<2>()?;
    if found != kind {
        return None;
    }
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) =
            rest.split_at_checked(usize::from(first & 0x7f)).filter(|(digits, _)| digits.len() <= 4)?;
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As short as a certificate can be: something signed, the kind of the signature, and no signature.
    fn signed_by(kind: &[u8]) -> Vec<u8> {
        let length = u8::try_from(kind.len()).unwrap();
        let mut bytes = vec![0x30, length + 8, 0x30, 0x81, 0x01, 0x00, 0x30, length + 2, 0x06, length];
        bytes.extend(kind);
        bytes
    }

    #[test]
    fn the_digest_is_by_the_hash_that_the_certificate_was_signed_with() {
        let rsa = |last| signed_by(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, last]);
        let ecdsa = |last| signed_by(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, last]);
        let lengths =
            [rsa(5), rsa(11), rsa(12), rsa(13), ecdsa(2), ecdsa(3), ecdsa(4)].map(|one| end_point(&one).unwrap().len());
        assert_eq!(lengths, [32, 32, 48, 64, 32, 48, 64]);
        // RSA-PSS and Ed25519 name none.
        assert!(end_point(&rsa(10)).is_none() && end_point(&signed_by(&[0x2b, 0x65, 0x70])).is_none());
    }

    #[test]
    fn bytes_that_are_no_certificate_bind_nothing() {
        let whole = signed_by(&[0x2a]);
        for end in 0..whole.len() {
            assert!(end_point(&whole[..end]).is_none());
        }
        assert!(end_point(&[0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_none());
    }
}
