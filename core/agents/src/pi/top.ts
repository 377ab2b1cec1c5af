
// Pi: one session at a time, and every handler is waited for.
const SOURCES = { new: "clear", resume: "resume", fork: "fork" }

export default function (pi) {
  const denied = new Set()
  let waiting = []
  let sentBack = false
  let last = {}

  const fieldsOf = (ctx) => {
    seat.attended = ctx.hasUI === true
    const sessions = ctx.sessionManager
    return { session_id: sessions.getSessionId(), transcript_path: sessions.getSessionFile?.(), cwd: ctx.cwd }
  }

  // A handler of ours gives back what it makes of an event, and never fails.
  const on = (event, handler) =>
    pi.on(event, async (told, ctx) => {
      try {
        return await handler(told, ctx)
      } catch {
        return undefined
      }
    })

  const agreed = async (ctx, reason) => {
    try {
      return (await ctx.ui.confirm("Taut", reason)) === true
    } catch {
      return false
    }
  }

  const callOf = (told) => ({ tool_name: told.toolName, tool_use_id: told.toolCallId, tool_input: told.input })
  const textOf = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : String(content ?? ""))
  const taken = () => waiting.splice(0).join("\n\n")

  on("session_start", async ({ reason }, ctx) => {
    if (reason === "reload") return
    const answer = await tell("SessionStart", { ...fieldsOf(ctx), source: SOURCES[reason] ?? "startup" })
    if (contextOf(answer)) waiting.push(answer.context)
  })

  on("input", async ({ text, source }, ctx) => {
    sentBack = false
    const answer = await tell(source === "extension" ? "OtherPrompt" : "UserPromptSubmit", { ...fieldsOf(ctx), prompt: text })
    if (contextOf(answer)) waiting.push(answer.context)
  })

  on("before_agent_start", async () => {
    const content = taken()
    return content ? { message: { customType: "taut", content, display: false } } : undefined
  })

  on("tool_call", async (told, ctx) => {
    const judged = async () => tell("PreToolUse", { ...fieldsOf(ctx), ...callOf(told) })
    const stop = stopOf(await judged().catch(() => undefined))
    if (!stop) return undefined
    // Where nobody can be asked the answer is no.
    if (stop.ask && (await agreed(ctx, stop.ask))) return undefined
    denied.add(told.toolCallId)
    return { block: true, reason: stop.deny ?? stop.ask }
  })

  on("tool_result", async (told, ctx) => {
    if (denied.delete(told.toolCallId)) return undefined
    const text = textOf(told.content)
    const how = told.isError ? { error: text.slice(0, 4000) } : { tool_response: text }
    const event = told.isError ? "PostToolUseFailure" : "PostToolUse"
    const answer = await tell(event, { ...fieldsOf(ctx), ...callOf(told), ...how })
    if (contextOf(answer)) waiting.push(answer.context)
    const context = taken()
    return context ? { content: [...told.content, { type: "text", text: context }] } : undefined
  })

  // A turn that the user has interrupted ends here.
  on("agent_end", async ({ messages }, ctx) => {
    denied.clear()
    last = messages?.findLast((message) => message.role === "assistant") ?? {}
    if (last.stopReason === "aborted") await tell("Stop", { ...fieldsOf(ctx), stop_hook_active: true })
  })

  on("agent_before_settle", async ({ outcome }, ctx) => {
    const { errorMessage, content } = last
    if (outcome === "aborted") return undefined
    if (outcome === "error") {
      await tell("StopFailure", { ...fieldsOf(ctx), error: "error", error_details: String(errorMessage).slice(0, 4000) })
      return undefined
    }
    const said = textOf(content).slice(0, 4000)
    const answer = await tell("Stop", { ...fieldsOf(ctx), stop_hook_active: sentBack, last_assistant_message: said })
    if (sentBack || !isText(answer?.block)) return undefined
    sentBack = true
    return { entries: [{ type: "custom_message", customType: "taut", content: answer.block, display: true }], continue: true }
  })

  const trigger = (reason) => (reason === "manual" ? "manual" : "auto")
  on("session_before_compact", async ({ reason }, ctx) => {
    await tell("PreCompact", { ...fieldsOf(ctx), trigger: trigger(reason) })
  })
  on("session_compact", async ({ reason, compactionEntry }, ctx) => {
    const summary = compactionEntry?.summary
    await tell("PostCompact", { ...fieldsOf(ctx), trigger: trigger(reason), compact_summary: summary })
  })

  on("session_shutdown", async ({ reason }, ctx) => {
    if (reason !== "reload") await tell("SessionEnd", { ...fieldsOf(ctx), reason: reason === "new" ? "clear" : "other" })
  })
}
