//! TLS by rustls: the server proves who it is, unless the user's own file asks for less in words.

use crate::credentials;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::ServerError;
use sys::outside::{self, Rules};

const MOST_BYTES: u64 = 8 << 20;

/// Where systems keep the authorities that they trust. A library that asks each system in its own way would need its
/// frameworks to build.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/ca-certificates/cert.pem",
];

/// How much a server must prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// That an authority signed its certificate, for this very name.
    Full,
    /// Nothing of its name, and its authority only where one is named.
    Encrypted,
}

/// The files of the user's configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// # Errors
/// `Refused` where a file cannot be used.
pub(crate) fn config(proof: Proof, files: &Files) -> Result<Arc<ClientConfig>, ServerError> {
    let provider = Arc::new(ring::default_provider());
    let building = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let building = building.map_err(|cause| refused(&format!("TLS cannot be set up: {cause}")))?;
    let building = match (proof, &files.ca) {
        (Proof::Full, ca) => building.with_root_certificates(roots(ca.as_deref())?),
        (Proof::Encrypted, ca) => {
            let chain = match ca {
                Some(ca) => Some(chain(roots(Some(ca))?, &provider)?),
                None => None,
            };
            building.dangerous().with_custom_certificate_verifier(Arc::new(AnyName { chain, provider }))
        }
    };
    let config = match (&files.cert, &files.key) {
        (Some(cert), Some(key)) => {
            let made = building.with_client_auth_cert(certificates(cert)?, private_key(key)?);
            made.map_err(|cause| {
                refused(&format!("{} and {} do not go together: {cause}", cert.display(), key.display()))
            })?
        }
        (None, None) => building.with_no_client_auth(),
        _ => return Err(refused("`cert` and `key` go together: name both")),
    };
    Ok(Arc::new(config))
}

/// What is wrong between the two ends, where it is nothing that time mends.
pub(crate) fn words(error: &Error) -> Option<String> {
    let about = match error {
        Error::InvalidCertificate(about) => about,
        Error::AlertReceived(alert) => {
            return Some(format!("it does not take our certificate ({alert:?}): see `cert` and `key`"));
        }
        _ => return None,
    };
    Some(match about {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is signed by nobody who is trusted here: name the file of its authority as `ca`"
                .to_string()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name: connect by the name that it has, or have it made for this one"
                .to_string()
        }
        other => format!("its certificate is not good: {}", crate::server_error::quoted(&other.to_string())),
    })
}

fn chain(roots: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, ServerError> {
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    verifier.map_err(|cause| refused(&format!("`ca` cannot be used: {cause}")))
}

fn roots(ca: Option<&Path>) -> Result<RootCertStore, ServerError> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(ca) => {
            let (_, bad) = roots.add_parsable_certificates(certificates(ca)?);
            if bad > 0 || roots.is_empty() {
                return Err(refused(&format!("{} holds a certificate that cannot be read", ca.display())));
            }
        }
        None => {
            let bundle = BUNDLES.iter().find_map(|path| certificates(Path::new(path)).ok());
            // A bundle has now and then one that a stricter reader does not take.
            roots.add_parsable_certificates(bundle.unwrap_or_default());
        }
    }
    if roots.is_empty() {
        return Err(refused("this system's list of authorities was not found: name the file of the server's as `ca`"));
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let bytes = outside::read(path, &Rules::obeyed(MOST_BYTES));
    let bytes = bytes.map_err(|why| refused(&format!("{} cannot be read: {why}", path.display())))?;
    let found: Vec<_> = CertificateDer::pem_slice_iter(&bytes).filter_map(Result::ok).collect();
    if found.is_empty() {
        return Err(refused(&format!("{} holds no certificate (PEM)", path.display())));
    }
    Ok(found)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, ServerError> {
    let text = credentials::private_text(path).map_err(|why| why.words(path))?;
    let key = PrivateKeyDer::from_pem_slice(text.as_bytes());
    key.map_err(|_| refused(&format!("{} holds no private key (PEM, without a passphrase)", path.display())))
}

fn refused(words: &str) -> ServerError {
    ServerError::Refused(words.to_string())
}

/// `sslmode=require`: whoever has the key of the certificate is believed, and the certificate's chain is checked only
/// where an authority was named. The password is still safe: it is proven bound to this very certificate (`dial`).
#[derive(Debug)]
struct AnyName {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // The name is the last that is looked at.
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
