// Taut's part inside this agent: tells Taut what the agent does, and keeps to what Taut answers. Written by `taut init`,
// and taken out again by `taut uninstall`.
//
// It throws to deny a call and for no other reason, writes nothing anywhere, and never waits without a limit.
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { lstat } from "node:fs/promises"
import { connect } from "node:net"

// A call that may be denied is waited for longer than anything else. The hook itself gives up after two seconds.
const DAEMON_MS = { PreToolUse: 1500, other: 600 }
const HOOK_MS = { PreToolUse: 5000, other: 2500 }
const LONGEST_PAYLOAD = 8 << 20
const LONGEST_ANSWER = 1 << 20
const LONGEST_ADDRESS = 103

// What this process was started with. A project may change variables later, and must not say where Taut keeps things.
const STARTED_WITH = (() => {
  try {
    const found = Object.create(null)
    for (const entry of readFileSync("/proc/self/environ", "utf8").split("\0")) {
      const at = entry.indexOf("=")
      if (at > 0 && !(entry.slice(0, at) in found)) found[entry.slice(0, at)] = entry.slice(at + 1)
    }
    return found
  } catch {
    return { ...process.env }
  }
})()

const isTold = (name) => name.startsWith("TAUT_") || ALLOWED.includes(name)
const picked = (is) => Object.fromEntries(Object.entries(STARTED_WITH).filter(([name]) => is(name)))
const TOLD = picked(isTold)
const FOR_THE_HOOK = picked((name) => isTold(name) || OF_THE_USER.includes(name))

// Whether somebody sits in front of the agent, as far as its top knows.
const seat = { attended: true }
const ownVariables = () => ({ ...OWN_VARIABLES, TAUT_ATTENDED: seat.attended ? "1" : "0" })

// Where the daemon listens, or nothing where the hook has to look more closely: inside another agent it is that one's
// start that counts.
const FOLDER = (() => {
  const { TAUT_HOME, XDG_STATE_HOME, HOME, TAUT_NO_DAEMON } = STARTED_WITH
  if ((TAUT_NO_DAEMON && TAUT_NO_DAEMON !== "0") || MARKS.some((name) => name in STARTED_WITH)) return null
  const below = XDG_STATE_HOME?.startsWith("/") ? `${XDG_STATE_HOME}/taut` : HOME && `${HOME}/.local/state/taut`
  const folder = TAUT_HOME || below
  const fits = folder?.startsWith("/") && Buffer.byteLength(`${folder}/taut.sock`) <= LONGEST_ADDRESS
  return fits ? folder : null
})()

// Values as JSON can hold them, whatever they are: nothing in them can throw, loop or run on.
function plain(value, room, depth) {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object") return undefined
  if (depth > 60 || --room.left < 0) {
    room.cut = true
    return null
  }
  const copy = Array.isArray(value) ? [] : Object.create(null)
  let names = []
  try {
    names = Object.keys(value)
  } catch {
    room.cut = true
  }
  for (const name of names) {
    if (room.cut && room.left < 0) break
    try {
      copy[name] = plain(value[name], room, depth + 1)
    } catch {
      room.cut = true
    }
  }
  return copy
}

function payloadOf(event, { tool_input, ...fields }) {
  const room = { left: 100_000, cut: false }
  const input = plain(tool_input, room, 0)
  const rest = plain(fields, { left: 1000, cut: false }, 0)
  const whole = { hook_event_name: event, ...rest, pid: process.pid, cut: room.cut || undefined, tool_input: input }
  // What is longer than a hook reads is cut where the hook would cut it, and judged as such.
  return Buffer.from(JSON.stringify(whole)).subarray(0, LONGEST_PAYLOAD)
}

function frameOf(payload, cwd) {
  const number = Buffer.alloc(4)
  number.writeUInt32LE(process.pid)
  const fields = [[1, randomBytes(16).toString("hex")], [2, AGENT], [3, cwd], [4, number]]
  fields.push(...Object.entries({ ...TOLD, ...ownVariables() }).map(([name, value]) => [5, `${name}=${value}`]))
  fields.push([6, payload])
  const parts = fields.flatMap(([tag, value]) => {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value))
    const head = Buffer.alloc(5)
    head[0] = tag
    head.writeUInt32LE(bytes.length, 1)
    return [head, bytes]
  })
  const body = Buffer.concat(parts)
  const head = Buffer.from([0x54, 0x41, 0x55, 0x54, 1, 1, 0, 0, 0, 0, 0, 0])
  head.writeUInt32LE(body.length, 8)
  return Buffer.concat([head, body])
}

// What a whole frame says the hook would print; nothing when it is no answer.
function printed(frame) {
  if (frame.toString("latin1", 0, 4) !== "TAUT" || frame[5] !== 16) return undefined
  let [text, exit, at] = ["", undefined, 12]
  while (at + 5 <= frame.length) {
    const end = at + 5 + frame.readUInt32LE(at + 1)
    if (end > frame.length) return undefined
    if (frame[at] === 1) exit = frame[at + 5]
    if (frame[at] === 2) text = frame.toString("utf8", at + 5, end)
    at = end
  }
  return exit === 0 ? text : undefined
}

// Nobody but this user can have put the socket there.
async function isOurs() {
  const [folder, socket] = await Promise.all([lstat(FOLDER), lstat(`${FOLDER}/taut.sock`)])
  const user = process.getuid()
  return folder.uid === user && socket.uid === user && (folder.mode & 0o022) === 0 && socket.isSocket()
}

// `text` is the answer. Without one, `taken` says that the daemon has the call and is only late.
function askDaemon(payload, cwd, limit) {
  return new Promise((resolve) => {
    let socket
    let received = []
    let [sent, over] = [false, false]
    const end = (result) => {
      over = true
      clearTimeout(timer)
      socket?.destroy()
      resolve(result)
    }
    const timer = setTimeout(() => end({ taken: sent }), limit)
    const hear = (chunk) => {
      received.push(chunk)
      const bytes = Buffer.concat(received)
      received = [bytes]
      const length = bytes.length < 12 ? 0 : bytes.readUInt32LE(8)
      if (length > LONGEST_ANSWER) end({})
      else if (bytes.length >= 12 + length && bytes.length >= 12) end({ text: printed(bytes.subarray(0, 12 + length)) })
    }
    isOurs().then((ours) => {
      if (over || !ours) return end({})
      socket = connect(`${FOLDER}/taut.sock`)
      socket.on("error", () => end({}))
      socket.on("close", () => end({}))
      socket.on("data", hear)
      socket.write(frameOf(payload, cwd), () => (sent = true))
    }).catch(() => end({}))
  })
}

function askHook(payload, limit) {
  return new Promise((resolve) => {
    let child
    let received = []
    let size = 0
    const end = (text) => {
      clearTimeout(timer)
      if (text === undefined) child?.kill("SIGKILL")
      resolve(text)
    }
    const timer = setTimeout(() => end(undefined), limit)
    try {
      const env = { ...FOR_THE_HOOK, ...ownVariables() }
      child = spawn(TAUT, ["hook", "--agent", AGENT], { env, stdio: ["pipe", "pipe", "ignore"] })
      child.on("error", () => end(undefined))
      for (const stream of [child.stdin, child.stdout]) stream.on("error", () => {})
      child.stdout.on("data", (chunk) => {
        size += chunk.length
        if (size > LONGEST_ANSWER) end(undefined)
        else received.push(chunk)
      })
      child.on("close", (status) => end(status === 0 ? Buffer.concat(received).toString("utf8") : undefined))
      child.stdin.end(payload)
    } catch {
      end(undefined)
    }
  })
}

// The answer as an object of texts: empty where nothing is said, nothing where none could be had.
function understood(text) {
  if (text === undefined) return undefined
  if (text.trim() === "") return {}
  const answer = JSON.parse(text)
  return answer !== null && typeof answer === "object" && !Array.isArray(answer) ? answer : undefined
}

// Tells Taut of an event. Never rejects.
async function tell(event, fields) {
  try {
    const limit = (limits) => limits[event] ?? limits.other
    const payload = payloadOf(event, fields)
    let heard = FOLDER === null ? {} : await askDaemon(payload, String(fields.cwd ?? ""), limit(DAEMON_MS))
    // Told twice, a call is still one by its id. Of other events a daemon that is only late has taken care.
    if (heard.text === undefined && (!heard.taken || fields.tool_use_id)) {
      heard = { text: await askHook(payload, limit(HOOK_MS)) }
    }
    return understood(heard.text)
  } catch {
    return undefined
  }
}

const isText = (value) => typeof value === "string" && value !== ""
const contextOf = (answer) => (isText(answer?.context) ? answer.context : undefined)

// Why a call is denied or asked about; nothing where it may go on.
function stopOf(answer) {
  if (isText(answer?.deny)) return { deny: answer.deny }
  if (isText(answer?.ask)) return { ask: answer.ask }
  if (answer === undefined && ON_FAILURE === "block") {
    return { deny: "Taut could not judge this call, and calls that cannot be judged are denied; `taut doctor` says more." }
  }
  return undefined
}
