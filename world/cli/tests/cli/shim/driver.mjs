// Stands for the agent that a plugin runs in: `driver.mjs AGENT PLUGIN [MODE]` reads calls from stdin as JSON and prints, for
// each, why it was denied, or null where it may go on. Whatever else comes out of a plugin ends this with an error.
import { createServer } from "node:net"
import { readFileSync } from "node:fs"

const [agent, plugin, mode] = process.argv.slice(2)
const calls = JSON.parse(readFileSync(0, "utf8"))

// What only a program can pass in.
const HOSTILE = {
  getter: () => ({ get command() { throw new Error("a getter") } }),
  cycle: () => { const args = { command: "rm -rf ~" }; args.self = args; return args },
  bigint: () => ({ command: "rm -rf ~", timeout: 10n ** 30n }),
  deep: () => { let args = { command: "rm -rf ~" }; const top = args; for (let i = 0; i < 100_000; i++) args = args.next = {}; return top },
  proxy: () => new Proxy({}, { ownKeys: () => { throw new Error("a proxy") } }),
  symbol: () => ({ command: Symbol("x"), toJSON: () => { throw new Error("toJSON") } }),
  nothing: () => undefined,
  text: () => "rm -rf ~",
  huge: () => ({ content: "x".repeat(20 << 20), filePath: "a.txt" }),
  prototype: () => JSON.parse('{"__proto__": {"command": "ls"}, "command": "rm -rf ~"}'),
}
const argsOf = (call) => (call.hostile ? HOSTILE[call.hostile]() : call.args)

// A daemon that is not one, in the place of the real one.
const SERVERS = {
  closes: (socket) => socket.on("data", () => socket.destroy()),
  silent: () => {},
  garbage: (socket) => socket.on("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
  endless: (socket) => socket.on("data", () => socket.write(Buffer.concat([Buffer.from("TAUT\x01\x10\0\0\xff\xff\xff\x7f", "latin1"), Buffer.alloc(1 << 20)]))),
  cannot: (socket) => socket.on("data", () => socket.end(Buffer.from("TAUT\x01\x13\0\0\0\0\0\0", "latin1"))),
}
if (mode) {
  process.umask(0o077)
  const server = createServer((socket) => { socket.on("error", () => {}); SERVERS[mode](socket) })
  await new Promise((resolve) => server.listen(`${process.env.TAUT_HOME}/taut.sock`, resolve))
  server.unref()
}

for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, (error) => { console.error(event, error); process.exit(70) })

const module = await import(plugin)
const cwd = process.cwd()

async function opencode() {
  const client = { session: { get: async () => ({ data: { directory: cwd } }), promptAsync: async () => {} } }
  const hooks = await module.Taut({ client, directory: cwd })
  hooks.event({ event: { type: "session.created", properties: { info: { id: "ses_root", directory: cwd } } } })
  for (const type of ["session.idle", "session.error", "message.part.updated", "permission.asked", "session.created", "x"]) hooks.event({ event: { type } })
  return {
    ask: async (call, id) => {
      try {
        await hooks["tool.execute.before"]({ tool: call.tool, sessionID: "ses_root", callID: id }, { args: argsOf(call) })
        return null
      } catch (error) {
        return error.message
      }
    },
    end: () => hooks.dispose(),
  }
}

async function pi() {
  const handlers = {}
  module.default({ on: (event, handler) => (handlers[event] = handler) })
  const ctx = { cwd, hasUI: false, sessionManager: { getSessionId: () => "pi-session" }, ui: { confirm: async () => false } }
  await handlers.session_start({ reason: "startup" }, ctx)
  for (const event of Object.keys(handlers)) if (event !== "session_shutdown") await handlers[event]({}, event === "tool_call" ? ctx : {})
  return {
    ask: async (call, id) => {
      const answer = await handlers.tool_call({ toolName: call.tool, toolCallId: id, input: argsOf(call) }, ctx)
      return answer?.block ? answer.reason : null
    },
    end: () => handlers.session_shutdown({ reason: "quit" }, ctx),
  }
}

const host = await { opencode, pi }[agent]()
const answers = await Promise.all(calls.map((call, at) => host.ask(call, `call-${at}`)))
await host.end()
console.log(JSON.stringify({ answers }))
process.exit(0)
