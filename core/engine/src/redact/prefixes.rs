//! How the tokens of services begin, and what follows.

/// What a token is made of behind its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    Hex,
    Upper,
    Alnum,
    /// And `-`, `_`.
    Word,
    /// And `.`.
    Dotted,
    /// And `+`, `/`, `=`.
    Base64,
    /// And `%`, for what stands in an address.
    Percent,
    /// And `$`.
    Dollar,
    /// Parts with dots between them, at least two.
    Jwt,
}

/// What besides its letters makes it a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCheck {
    /// Nothing: no word begins like this.
    Sure,
    /// Letters and digits: words may begin so too.
    Mixed,
    /// Small and capital letters and digits.
    Case,
}

#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub prefix: &'static str,
    pub letters: Letters,
    /// So many letters at least.
    pub least: usize,
    pub proof: TokenCheck,
}

const fn shape(prefix: &'static str, letters: Letters, least: usize, proof: TokenCheck) -> Shape {
    Shape { prefix, letters, least, proof }
}

use Letters::{Alnum, Base64, Dollar, Dotted, Hex, Jwt, Percent, Upper, Word};
use TokenCheck::{Case, Mixed, Sure};

/// In the order of their bytes, so that those with one first letter stand together.
pub const SHAPES: &[Shape] = &[
    shape("A3-", Word, 20, Mixed),                       // 1Password
    shape("AAAAAAAAAAAAAAAAAAAAA", Percent, 40, Sure),   // Twitter
    shape("ABIA", Upper, 16, Sure),                      // Amazon
    shape("ACCA", Upper, 16, Sure),                      // Amazon
    shape("AGE-SECRET-KEY-1", Alnum, 20, Sure),          // age
    shape("AIza", Word, 30, Sure),                       // Google
    shape("AKC", Alnum, 40, Mixed),                      // registries of packages
    shape("AKIA", Upper, 16, Sure),                      // Amazon
    shape("AQVN", Word, 35, Mixed),                      // Yandex
    shape("ASIA", Upper, 16, Sure),                      // Amazon
    shape("ATATT3", Base64, 40, Sure),                   // Atlassian
    shape("ATBB", Alnum, 24, Sure),                      // Bitbucket
    shape("ATCTT3", Base64, 40, Sure),                   // Atlassian
    shape("ATSTT3", Base64, 40, Sure),                   // Atlassian
    shape("CCIPAT_", Word, 30, Sure),                    // CircleCI
    shape("CCIPRJ_", Word, 30, Sure),                    // CircleCI
    shape("CFPAT-", Word, 30, Sure),                     // Contentful
    shape("CLOJARS_", Hex, 60, Sure),                    // Clojars
    shape("EAA", Alnum, 60, Mixed),                      // Facebook
    shape("EAAA", Word, 50, Mixed),                      // Square
    shape("EZAK", Alnum, 50, Sure),                      // EasyPost
    shape("EZTK", Alnum, 50, Sure),                      // EasyPost
    shape("FLWSECK", Word, 12, Sure),                    // Flutterwave
    shape("GOCSPX-", Word, 20, Sure),                    // Google-OAuth
    shape("GR1348941", Word, 20, Sure),                  // GitLab
    shape("HRKU-", Word, 36, Sure),                      // Heroku
    shape("LTAI", Alnum, 12, Mixed),                     // Alibaba
    shape("NRAA-", Word, 20, Sure),                      // NewRelic
    shape("NRAK-", Alnum, 20, Sure),                     // NewRelic
    shape("NRII-", Word, 20, Sure),                      // NewRelic
    shape("NRIQ-", Word, 20, Sure),                      // NewRelic
    shape("NRJS-", Alnum, 16, Sure),                     // NewRelic
    shape("NRRA-", Alnum, 20, Sure),                     // NewRelic
    shape("PMAK-", Word, 40, Sure),                      // Postman
    shape("SG.", Dotted, 40, Sure),                      // SendGrid
    shape("SK", Hex, 32, Sure),                          // Twilio
    shape("access-development-", Word, 36, Sure),        // Plaid
    shape("access-production-", Word, 36, Sure),         // Plaid
    shape("access-sandbox-", Word, 36, Sure),            // Plaid
    shape("access_token$production$", Dollar, 20, Sure), // PayPal
    shape("access_token$sandbox$", Dollar, 20, Sure),    // PayPal
    shape("aio_", Alnum, 28, Sure),                      // Adafruit
    shape("api_org_", Alnum, 30, Sure),                  // HuggingFace
    shape("apify_api_", Alnum, 30, Sure),                // Apify
    shape("bkua_", Hex, 40, Sure),                       // Buildkite
    shape("cfat_", Word, 30, Sure),                      // Cloudflare
    shape("cfk_", Word, 30, Sure),                       // Cloudflare
    shape("cfut_", Word, 30, Sure),                      // Cloudflare
    shape("cio", Alnum, 32, Mixed),                      // crates.io
    shape("csk-", Alnum, 32, Sure),                      // Cerebras
    shape("dapi", Hex, 32, Sure),                        // Databricks
    shape("dckr_oat_", Word, 20, Sure),                  // Docker
    shape("dckr_pat_", Word, 20, Sure),                  // Docker
    shape("ddp_", Word, 30, Sure),                       // Datadog
    shape("doo_v1_", Hex, 40, Sure),                     // DigitalOcean
    shape("dop_v1_", Hex, 32, Sure),                     // DigitalOcean
    shape("dor_v1_", Hex, 40, Sure),                     // DigitalOcean
    shape("dp.audit.", Word, 30, Sure),                  // Doppler
    shape("dp.ct.", Word, 30, Sure),                     // Doppler
    shape("dp.pt.", Word, 30, Sure),                     // Doppler
    shape("dp.sa.", Word, 30, Sure),                     // Doppler
    shape("dp.scim.", Word, 30, Sure),                   // Doppler
    shape("dp.st.", Dotted, 30, Sure),                   // Doppler
    shape("dt0c01.", Dotted, 60, Sure),                  // Dynatrace
    shape("dt0s01.", Dotted, 60, Sure),                  // Dynatrace
    shape("duffel_live_", Word, 30, Sure),               // Duffel
    shape("duffel_test_", Word, 30, Sure),               // Duffel
    shape("eyJ", Jwt, 20, Sure),                         // JWT
    shape("eyJrIjoi", Base64, 30, Sure),                 // Grafana
    shape("fc-", Hex, 32, Sure),                         // Firecrawl
    shape("figd_", Word, 30, Sure),                      // Figma
    shape("figo_", Word, 30, Sure),                      // Figma
    shape("figor_", Word, 30, Sure),                     // Figma
    shape("fio-u-", Word, 40, Sure),                     // Frame.io
    shape("fm1a_", Base64, 30, Sure),                    // Fly
    shape("fm1r_", Base64, 30, Sure),                    // Fly
    shape("fm2_", Base64, 30, Sure),                     // Fly
    shape("fo1_", Word, 30, Sure),                       // Fly
    shape("fw_", Alnum, 22, Mixed),                      // Fireworks
    shape("gho_", Alnum, 16, Sure),                      // GitHub
    shape("ghp_", Alnum, 16, Sure),                      // GitHub
    shape("ghr_", Alnum, 16, Sure),                      // GitHub
    shape("ghs_", Alnum, 16, Sure),                      // GitHub
    shape("ghu_", Alnum, 16, Sure),                      // GitHub
    shape("github_pat_", Word, 20, Sure),                // GitHub
    shape("glagent-", Word, 20, Sure),                   // GitLab
    shape("glc_", Base64, 30, Sure),                     // Grafana
    shape("glcbt-", Word, 20, Sure),                     // GitLab
    shape("gldt-", Word, 20, Sure),                      // GitLab
    shape("glffct-", Word, 20, Sure),                    // GitLab
    shape("glft-", Word, 20, Sure),                      // GitLab
    shape("glimt-", Word, 20, Sure),                     // GitLab
    shape("gloas-", Word, 20, Sure),                     // GitLab
    shape("glpat-", Dotted, 16, Sure),                   // GitLab
    shape("glptt-", Word, 20, Sure),                     // GitLab
    shape("glrt-", Dotted, 20, Sure),                    // GitLab
    shape("glrtr-", Word, 20, Sure),                     // GitLab
    shape("glsa_", Word, 30, Sure),                      // Grafana
    shape("glsoat-", Word, 20, Sure),                    // GitLab
    shape("glwt-", Word, 20, Sure),                      // GitLab
    shape("gsk_", Alnum, 30, Sure),                      // Groq
    shape("hf_", Alnum, 20, Sure),                       // HuggingFace
    shape("hvb.", Word, 24, Sure),                       // Vault
    shape("hvr.", Word, 24, Sure),                       // Vault
    shape("hvs.", Word, 20, Sure),                       // Vault
    shape("jina_", Alnum, 40, Sure),                     // Jina
    shape("key-", Hex, 32, Sure),                        // Mailgun
    shape("lin_api_", Alnum, 30, Sure),                  // Linear
    shape("lin_oauth_", Alnum, 30, Sure),                // Linear
    shape("lin_wh_", Alnum, 30, Sure),                   // Linear
    shape("lsv2_pt_", Word, 30, Sure),                   // LangSmith
    shape("lsv2_sk_", Word, 30, Sure),                   // LangSmith
    shape("napi_", Alnum, 40, Sure),                     // Neon
    shape("nfb_", Alnum, 30, Sure),                      // Netlify
    shape("nfc_", Alnum, 30, Sure),                      // Netlify
    shape("nfo_", Alnum, 30, Sure),                      // Netlify
    shape("nfp_", Alnum, 30, Sure),                      // Netlify
    shape("nfu_", Alnum, 30, Sure),                      // Netlify
    shape("npg_", Alnum, 10, Mixed),                     // Neon
    shape("npm_", Alnum, 30, Sure),                      // npm
    shape("ntn_", Alnum, 30, Sure),                      // Notion
    shape("nvapi-", Word, 40, Sure),                     // NVIDIA
    shape("ops_eyJ", Base64, 40, Sure),                  // 1Password
    shape("oy2", Alnum, 43, Sure),                       // NuGet
    shape("pat-eu1-", Word, 36, Sure),                   // HubSpot
    shape("pat-na1-", Word, 36, Sure),                   // HubSpot
    shape("pat-na2-", Word, 36, Sure),                   // HubSpot
    shape("pcsk_", Word, 40, Sure),                      // Pinecone
    shape("phc_", Alnum, 32, Sure),                      // PostHog
    shape("phx_", Alnum, 32, Sure),                      // PostHog
    shape("pk_live_", Alnum, 16, Sure),                  // Stripe
    shape("pnu_", Alnum, 30, Sure),                      // Prefect
    shape("pplx-", Alnum, 30, Sure),                     // Perplexity
    shape("pscale_oauth_", Word, 30, Sure),              // PlanetScale
    shape("pscale_pw_", Word, 30, Sure),                 // PlanetScale
    shape("pscale_tkn_", Word, 30, Sure),                // PlanetScale
    shape("pul-", Hex, 40, Sure),                        // Pulumi
    shape("pypi-", Word, 30, Mixed),                     // PyPI
    shape("r8_", Alnum, 30, Sure),                       // Replicate
    shape("rdme_", Alnum, 40, Sure),                     // ReadMe
    shape("re_", Word, 24, Case),                        // Resend
    shape("rk_live_", Alnum, 16, Sure),                  // Stripe
    shape("rk_test_", Alnum, 16, Sure),                  // Stripe
    shape("rnd_", Alnum, 24, Mixed),                     // Render
    shape("rubygems_", Hex, 40, Sure),                   // RubyGems
    shape("sb_publishable_", Word, 20, Mixed),           // Supabase
    shape("sb_secret_", Word, 20, Sure),                 // Supabase
    shape("sbp_", Hex, 40, Sure),                        // Supabase
    shape("secret_", Alnum, 40, Mixed),                  // Notion
    shape("sess-", Alnum, 40, Sure),                     // OpenAI
    shape("shippo_live_", Hex, 40, Sure),                // Shippo
    shape("shippo_test_", Hex, 40, Sure),                // Shippo
    shape("shpat_", Hex, 32, Sure),                      // Shopify
    shape("shpca_", Hex, 32, Sure),                      // Shopify
    shape("shppa_", Hex, 32, Sure),                      // Shopify
    shape("shpss_", Hex, 32, Sure),                      // Shopify
    shape("sk-", Word, 20, Mixed),                       // OpenAI
    shape("sk-admin-", Word, 20, Mixed),                 // OpenAI
    shape("sk-ant-", Word, 12, Sure),                    // Anthropic
    shape("sk-or-v1-", Hex, 40, Sure),                   // OpenRouter
    shape("sk-proj-", Word, 20, Mixed),                  // OpenAI
    shape("sk-svcacct-", Word, 20, Mixed),               // OpenAI
    shape("sk.eyJ", Jwt, 30, Sure),                      // Mapbox
    shape("sk_", Hex, 40, Sure),                         // ElevenLabs
    shape("sk_live_", Word, 16, Sure),                   // Stripe
    shape("sk_test_", Word, 16, Sure),                   // Stripe
    shape("sl.", Dotted, 60, Mixed),                     // Dropbox
    shape("sntrys_", Base64, 30, Sure),                  // Sentry
    shape("sntryu_", Hex, 40, Sure),                     // Sentry
    shape("sq0atp-", Word, 20, Sure),                    // Square
    shape("sq0csp-", Word, 30, Sure),                    // Square
    shape("sqa_", Hex, 40, Sure),                        // SonarQube
    shape("sqp_", Hex, 40, Sure),                        // SonarQube
    shape("squ_", Hex, 40, Sure),                        // SonarQube
    shape("tfp_", Dotted, 40, Sure),                     // Typeform
    shape("tgp_v1_", Word, 30, Sure),                    // Together
    shape("tk-us-", Word, 40, Sure),                     // Scalingo
    shape("tskey-", Word, 20, Sure),                     // Tailscale
    shape("tvly-", Word, 24, Mixed),                     // Tavily
    shape("vca_", Alnum, 24, Sure),                      // Vercel
    shape("vci_", Alnum, 24, Sure),                      // Vercel
    shape("vck_", Alnum, 24, Sure),                      // Vercel
    shape("vcp_", Alnum, 24, Sure),                      // Vercel
    shape("vcr_", Alnum, 24, Sure),                      // Vercel
    shape("vercel_blob_rw_", Word, 30, Sure),            // Vercel
    shape("wandb_v1_", Word, 40, Sure),                  // WandB
    shape("whsec_", Base64, 24, Sure),                   // webhooks
    shape("xai-", Alnum, 40, Sure),                      // xAI
    shape("xapp-", Word, 20, Sure),                      // Slack
    shape("xkeysib-", Word, 60, Sure),                   // Brevo
    shape("xoxa-", Word, 12, Sure),                      // Slack
    shape("xoxb-", Word, 12, Sure),                      // Slack
    shape("xoxc-", Word, 12, Sure),                      // Slack
    shape("xoxd-", Percent, 12, Sure),                   // Slack
    shape("xoxe-", Word, 12, Sure),                      // Slack
    shape("xoxe.xoxb-", Word, 12, Sure),                 // Slack
    shape("xoxe.xoxp-", Word, 12, Sure),                 // Slack
    shape("xoxo-", Word, 12, Sure),                      // Slack
    shape("xoxp-", Word, 12, Sure),                      // Slack
    shape("xoxr-", Word, 12, Sure),                      // Slack
    shape("xoxs-", Word, 12, Sure),                      // Slack
    shape("xsmtpsib-", Word, 60, Sure),                  // Brevo
    shape("xwfp-", Word, 12, Sure),                      // Slack
    shape("ya29.", Dotted, 20, Sure),                    // Google
];

#[cfg(test)]
mod tests {
    use super::SHAPES;

    #[test]
    fn the_shapes_are_in_the_order_of_their_bytes() {
        assert!(SHAPES.windows(2).all(|two| two[0].prefix < two[1].prefix));
    }
}
