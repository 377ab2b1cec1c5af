//! What stands behind the `?` of an address. What is none of it is refused in the form of every other answer.

use super::api;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked)).map_err(|why| refused(&why.body_text()))
    }
}

pub fn refused(why: &str) -> Response {
    let told = [(CONTENT_TYPE, "application/json; charset=utf-8")];
    (StatusCode::BAD_REQUEST, told, api::failure(why).to_string()).into_response()
}
