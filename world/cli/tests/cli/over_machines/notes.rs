//! Words to agents of other machines.
