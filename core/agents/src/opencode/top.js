
// OpenCode: a helper has a session of its own, and the events of the bus are not waited for.
const LOOK_UP_MS = 500
const DISPOSE_MS = 1000
const ABORTED = "MessageAbortedError"
const within = (promise, ms) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, ms))])

// Whether this process ends with the turn, so that nobody would take up a further prompt.
const ENDS_WITH_THE_TURN = process.argv[2] === "run" && !process.argv.some((word) => /^(-i|--interactive)$/.test(word))
seat.attended = !ENDS_WITH_THE_TURN

export const Taut = async ({ client, directory }) => {
  const sessions = new Map()
  // Calls that run, by their ids, and whether they were denied; and events that are being told.
  const calls = new Map()
  const pending = new Set()

  const fieldsOf = (id, session) => ({
    session_id: id,
    parent_session_id: session.parent,
    agent_type: session.parent && session.kind,
    cwd: session.folder ?? directory,
  })

  // The helper's first ancestor: helpers of helpers belong to it.
  const rootOf = (id) => {
    for (let steps = 0; steps < 20 && sessions.get(id)?.parent; steps++) id = sessions.get(id).parent
    return id
  }

  const open = (id, info, source) => {
    const known = sessions.get(id)
    if (known) return known
    const session = { waiting: [] }
    sessions.set(id, session)
    session.begun = (async () => {
      const told = info ?? (await within(client.session.get({ path: { id } }).catch(() => undefined), LOOK_UP_MS))?.data
      session.parent = isText(told?.parentID) ? rootOf(told.parentID) : undefined
      session.kind = told?.agent
      session.folder = told?.directory
      const answer = await tell(session.parent ? "SubagentStart" : "SessionStart", { ...fieldsOf(id, session), source })
      if (contextOf(answer)) session.waiting.push(answer.context)
    })().catch(() => {})
    return session
  }

  // Tells of an event of a session that was told to have begun.
  const tellOf = async (id, event, fields) => {
    const session = open(id, undefined, "resume")
    await session.begun
    return tell(typeof event === "function" ? event() : event, { ...fieldsOf(id, session), ...fields })
  }

  const stopped = async (id) => {
    const session = open(id, undefined, "resume")
    const { working, interrupted, sentBack, said } = session
    Object.assign(session, { working: false, interrupted: false, sentBack: false })
    // Idleness is told more than once, also after an error or an interrupt: a turn ends once.
    if (!working) return
    const fields = { stop_hook_active: !!(interrupted || sentBack || ENDS_WITH_THE_TURN), last_assistant_message: said }
    const answer = await tellOf(id, () => (session.parent ? "SubagentStop" : "Stop"), fields)
    if (session.parent || fields.stop_hook_active || !isText(answer?.block)) return
    session.sentBack = answer.block
    await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: answer.block }] } })
  }

  // A part of an answer: its text, or a tool that failed without an event of its own.
  const part = async ({ type, sessionID, messageID, callID, tool, text, state }) => {
    const session = sessions.get(sessionID)
    if (type === "text" && session && session.prompt !== messageID) session.said = String(text).slice(0, 4000)
    if (type !== "tool" || state?.status !== "error" || !calls.has(callID)) return
    const { denied } = calls.get(callID)
    calls.delete(callID)
    if (denied) return
    const fields = { tool_name: tool, tool_input: state.input, tool_use_id: callID }
    await tellOf(sessionID, "PostToolUseFailure", { ...fields, error: String(state.error).slice(0, 4000) })
  }

  const heard = async ({ type, properties: told }) => {
    const id = told?.sessionID ?? told?.info?.sessionID
    const error = type === "message.updated" ? told.info?.error : told?.error
    // The user has interrupted the turn; it is told by the message, by the session, or by both.
    if (error?.name === ABORTED && isText(id)) open(id, undefined, "resume").interrupted = true
    if (type === "message.part.updated") return part(told.part)
    if (type === "session.created") return open(told.info.id, told.info, "startup").begun
    if (type === "session.idle") return stopped(id)
    if (type === "session.compacted") return tellOf(id, "PostCompact", { trigger: "auto" })
    if (type === "permission.asked") {
      const asked = calls.get(told.tool?.callID) ?? { tool_name: told.permission, tool_input: told.metadata }
      return tellOf(id, "PermissionRequest", { tool_name: asked.tool_name, tool_input: asked.tool_input })
    }
    if (type !== "session.error" || !isText(id) || error?.name === ABORTED) return
    open(id, undefined, "resume").working = false
    const details = String(error?.data?.message).slice(0, 4000)
    await tellOf(id, "StopFailure", { error: String(error?.name), error_details: details })
  }

  // What is told to the model goes beside the user's own words, as a part that is not shown.
  const addContext = (output, texts) => {
    const like = output.parts.findLast((each) => isText(each.id))
    if (!like || texts.length === 0) return
    const { sessionID, messageID, id } = like
    output.parts.push({ id: `${id}taut`, sessionID, messageID, type: "text", text: texts.join("\n\n"), synthetic: true })
  }

  return {
    // Nobody waits for it.
    event: ({ event }) => {
      const told = heard(event).catch(() => {})
      pending.add(told)
      told.finally(() => pending.delete(told))
    },

    "chat.message": async (input, output) => {
      try {
        const id = input.sessionID
        const session = open(id, undefined, "resume")
        Object.assign(session, { working: true, interrupted: false, prompt: output.message.id })
        const texts = output.parts.filter((each) => each.type === "text" && !each.synthetic).map((each) => each.text)
        const prompt = texts.join("\n")
        // Neither a helper's task nor what we ourselves sent back is the user's own word.
        const other = () => (session.parent ? "HelperPrompt" : session.sentBack === prompt && "SentBackPrompt")
        const answer = await tellOf(id, () => other() || "UserPromptSubmit", { prompt })
        const context = [...session.waiting.splice(0), contextOf(answer)]
        addContext(output, context.filter(isText))
      } catch {}
    },

    "tool.execute.before": async (input, output) => {
      const { tool, sessionID, callID } = input
      const call = { tool_name: tool, tool_input: output.args }
      calls.set(callID, call)
      const stop = stopOf(await tellOf(sessionID, "PreToolUse", { ...call, tool_use_id: callID }).catch(() => undefined))
      if (!stop) return
      call.denied = true
      throw new Error(stop.deny ?? stop.ask)
    },

    "tool.execute.after": async (input, output) => {
      try {
        const { tool, sessionID, callID, args } = input
        calls.delete(callID)
        const fields = { tool_name: tool, tool_input: args, tool_use_id: callID, tool_response: output.output }
        const context = contextOf(await tellOf(sessionID, "PostToolUse", fields))
        if (context && typeof output.output === "string") output.output += `\n\n${context}`
      } catch {}
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      await tellOf(sessionID, "PreCompact", { trigger: "auto" }).catch(() => {})
    },

    dispose: async () => {
      await within(Promise.all(pending), DISPOSE_MS)
      const roots = [...sessions].filter(([, session]) => !session.parent)
      const end = ([id, session]) => tell("SessionEnd", { ...fieldsOf(id, session), reason: "other" })
      await within(Promise.all(roots.map(end)), DISPOSE_MS)
    },
  }
}
