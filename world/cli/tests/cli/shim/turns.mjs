// Scenes of turns as the agents play them to a plugin: `turns.mjs AGENT PLUGIN SCENE`. What the plugin tells goes to the
// program it was given; what it puts before the model is printed.
const [agent, plugin, scene] = process.argv.slice(2)
const module = await import(plugin)
const cwd = process.cwd()
const shown = []

async function opencode() {
  const said = (sessionID, text, id = "1") => {
    const output = { message: { id: `msg_${id}` }, parts: [{ id: `prt_${id}`, sessionID, messageID: `msg_${id}`, type: "text", text }] }
    return hooks["chat.message"]({ sessionID }, output).then(() => shown.push(...output.parts.filter((part) => part.synthetic).map((part) => part.text)))
  }
  const sentBack = []
  const promptAsync = async ({ path, body }) => {
    await said(path.id, body.parts[0].text, "2")
    event("session.idle", { sessionID: path.id })
    sentBack.forEach((resolve) => resolve())
  }
  const client = { session: { get: async () => ({ data: { directory: cwd } }), promptAsync } }
  const hooks = await module.Taut({ client, directory: cwd })
  const event = (type, properties) => hooks.event({ event: { type, properties } })
  const aborted = { name: "MessageAbortedError" }
  const scenes = {
    "sent back": async () => {
      const again = new Promise((resolve) => sentBack.push(resolve))
      await said("s", "do it")
      event("session.idle", { sessionID: "s" })
      await again
      event("session.idle", { sessionID: "s" })
    },
    interrupted: async () => {
      await said("s", "do it")
      event("message.updated", { info: { sessionID: "s", error: aborted } })
      event("session.idle", { sessionID: "s" })
      event("session.error", { sessionID: "s", error: aborted })
      event("session.idle", { sessionID: "s" })
    },
    failed: async () => {
      await said("s", "do it")
      event("session.error", { sessionID: "s", error: { name: "APIError", data: { message: "no" } } })
      event("session.idle", { sessionID: "s" })
    },
    helper: async () => {
      event("session.created", { info: { id: "s", directory: cwd } })
      event("session.created", { info: { id: "child", parentID: "s", agent: "general", directory: cwd } })
      event("session.created", { info: { id: "grandchild", parentID: "child", agent: "explore", directory: cwd } })
      await said("grandchild", "a task")
      event("session.idle", { sessionID: "grandchild" })
    },
    tools: async () => {
      const call = { tool: "bash", sessionID: "s", callID: "1" }
      await hooks["tool.execute.before"](call, { args: { command: "ls" } })
      const output = { output: "a file" }
      await hooks["tool.execute.after"]({ ...call, args: { command: "ls" } }, output)
      shown.push(output.output)
      await hooks["tool.execute.before"]({ ...call, callID: "2" }, { args: { command: "ls" } })
      const part = { type: "tool", sessionID: "s", callID: "2", tool: "bash", state: { status: "error", input: {}, error: "gone" } }
      for (const state of [part.state, part.state]) event("message.part.updated", { part: { ...part, state } })
    },
  }
  await scenes[scene]()
  await hooks.dispose()
}

async function pi() {
  const handlers = {}
  module.default({ on: (event, handler) => (handlers[event] = handler) })
  const ctx = { cwd, hasUI: true, sessionManager: { getSessionId: () => "s" }, ui: { confirm: async () => true } }
  const play = (event, told = {}) => handlers[event](told, ctx)
  const prompt = async (text, source = "interactive") => {
    await play("input", { text, source })
    shown.push((await play("before_agent_start"))?.message.content ?? "nothing")
  }
  const settle = async (outcome, message) => {
    await play("agent_end", { messages: [{ role: "assistant", content: [{ type: "text", text: "done" }], ...message }] })
    return play("agent_before_settle", { outcome })
  }
  const scenes = {
    "sent back": async () => {
      await prompt("do it")
      const answer = await settle("completed")
      shown.push(answer.entries[0].content, String(answer.continue), String(await settle("completed")))
    },
    interrupted: async () => {
      await prompt("do it")
      shown.push(String(await settle("aborted", { stopReason: "aborted" })))
    },
    failed: async () => {
      await prompt("do it")
      await settle("error", { stopReason: "error", errorMessage: "401 no" })
    },
    helper: async () => prompt("from another extension", "extension"),
    tools: async () => {
      const call = { toolName: "bash", toolCallId: "1", input: { command: "ls" } }
      shown.push(String(await play("tool_call", call)))
      shown.push((await play("tool_result", { ...call, content: [{ type: "text", text: "a file" }], isError: false })).content.at(-1).text)
      await play("tool_result", { ...call, toolCallId: "2", content: [{ type: "text", text: "gone" }], isError: true })
    },
  }
  await play("session_start", { reason: "startup" })
  await scenes[scene]()
  await play("session_shutdown", { reason: "quit" })
}

await { opencode, pi }[agent]()
console.log(JSON.stringify(shown))
process.exit(0)
