import { systemClock } from "../../../../base/clock.ts";
import { AppError, messageOf } from "../../../../base/errors.ts";
import type { GatewayClient, MethodResult } from "../../../../protocol/index.ts";
import { entriesOfHistory, entriesOfPage } from "../state/entry.ts";
import type { TuiEvent } from "../state/event.ts";
import { GATEWAY_COMMANDS } from "../state/own-commands.ts";
import type { Effect, Preferences, Sent } from "../state/state.ts";
import { agentItems, approvalOf, commandInfos, factsOf, lastBeatText, modelItems, sessionItems, subagentItems } from "./answers.ts";
import { actOnJob, jobItems } from "./jobs.ts";

type Dispatch = (event: TuiEvent) => void;
type Of<K extends Effect["kind"]> = Extract<Effect, { kind: K }>;
/** What the gateway is asked for. The others are this machine's. */
type GatewayEffect = Exclude<Effect, { kind: "shell" | "stop-shell" | "mouse" | "suspend" | "exit" }>;

/** The gateway refused, as opposed to not answering. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && typeof error.details["protocolCode"] === "string";

/** The least that a session's runs may take longer than the answer that they began. */
const SEND_TIMEOUT_MS = 30_000;

/**
 * Sends a message. Its key makes it the same message however often it is sent, so it is sent until there is an answer; over a lost connection it
 * is the next one's first request.
 */
async function send(client: GatewayClient, sent: Sent, { deliver, thinking, timeoutMs }: Preferences, dispatch: Dispatch): Promise<void> {
  const { runId, sessionKey, text } = sent;
  const params = {
    sessionKey,
    message: text,
    idempotencyKey: runId,
    ...(deliver ? { deliver } : {}),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  while (client.state === "open") {
    try {
      const answer = await client.request("chat.send", params, { timeoutMs: SEND_TIMEOUT_MS });
      return dispatch({ type: "accepted", runId, ended: !("status" in answer) || answer.status === "ok" });
    } catch (error) {
      if (isRefusal(error)) return dispatch({ type: "refused", runId, error: messageOf(error) });
    }
  }
}

async function history(client: GatewayClient, { sessionKey, read, limit, paged }: Of<"history">, dispatch: Dispatch): Promise<void> {
  if (paged) {
    const { entries, runs } = await client.request("chat.page", { sessionKey, limit });
    return dispatch({ type: "history", sessionKey, read, entries: entriesOfPage(entries), runs });
  }
  const { messages } = await client.request("chat.history", { sessionKey, limit });
  dispatch({ type: "history", sessionKey, read, entries: entriesOfHistory(messages), runs: [] });
}

/** A page of the gateway's list holds no more than this. */
const PAGE = 500;

/** As many sessions as are wanted, page by page. */
async function sessionsUpTo(
  client: GatewayClient,
  most: number,
  filter: { readonly agentId: string; readonly search?: string },
): Promise<MethodResult<"sessions.list">> {
  const seen = { ...filter, includeDerivedTitles: true, includeLastMessage: true };
  let rows = await client.request("sessions.list", { ...seen, limit: Math.min(most, PAGE) });
  while (rows.nextOffset !== undefined && rows.sessions.length < most) {
    const next = await client.request("sessions.list", { ...seen, limit: Math.min(most - rows.sessions.length, PAGE), offset: rows.nextOffset });
    if (next.sessions.length === 0) break;
    rows = { ...next, sessions: [...rows.sessions, ...next.sessions] };
  }
  return rows;
}

async function pick(client: GatewayClient, { what, search, limit = 200 }: Of<"pick">, agentId: string, dispatch: Dispatch): Promise<void> {
  if (what === "models") return dispatch({ type: "items", kind: what, items: modelItems(await client.request("models.list", {})) });
  if (what === "agents") return dispatch({ type: "items", kind: what, items: agentItems(await client.request("agents.list", {})) });
  if (what === "subagents") return dispatch({ type: "items", kind: what, items: subagentItems(await client.request("subagents.list", {})) });
  if (what === "jobs") {
    const { jobs } = await client.request("cron.list", { includeDisabled: true });
    return dispatch({ type: "items", kind: what, items: jobItems(jobs, systemClock.now()) });
  }
  const words = search ? { search } : {};
  const rows = await sessionsUpTo(client, limit, { agentId, ...words });
  // A gateway that does not count them may have more, too: then what came is all that is looked through.
  const counted = rows.total === undefined ? {} : { total: rows.total, search: search ?? "" };
  dispatch({ type: "items", kind: what, items: sessionItems(rows), ...counted });
}

async function facts(client: GatewayClient, sessionKey: string, dispatch: Dispatch): Promise<void> {
  const rows = await client.request("sessions.list", { search: sessionKey, includeGlobal: true, includeUnknown: true });
  dispatch({ type: "facts", sessionKey, facts: factsOf(rows, sessionKey), ts: rows.ts });
}

async function agents(client: GatewayClient, dispatch: Dispatch): Promise<void> {
  const found = await client.request("agents.list", {});
  dispatch({ type: "agents", agents: found.agents.map(({ id, name, identity }) => ({ id, name: identity?.name ?? name })) });
}

async function commands(client: GatewayClient, agentId: string, dispatch: Dispatch): Promise<void> {
  const known = client.hello.features.methods.includes("commands.list");
  dispatch({ type: "commands", commands: known ? commandInfos(await client.request("commands.list", { agentId })) : GATEWAY_COMMANDS });
}

async function approvals(client: GatewayClient, dispatch: Dispatch): Promise<void> {
  if (!client.hello.features.methods.includes("exec.approval.list")) return;
  const open = await client.request("exec.approval.list", {});
  dispatch({ type: "approvals", approvals: open.approvals.map(approvalOf) });
}

async function decide(client: GatewayClient, { id, decision }: Of<"decide">, dispatch: Dispatch): Promise<void> {
  try {
    await client.request("exec.approval.resolve", { id, decision });
    dispatch({ type: "decided", id, decision, by: undefined });
  } catch (error) {
    dispatch({ type: "undecided", id, error: messageOf(error) });
  }
}

async function patch(client: GatewayClient, { sessionKey, field, value }: Of<"patch">, dispatch: Dispatch): Promise<void> {
  await client.call("sessions.patch", { key: sessionKey, [field]: value });
  dispatch({ type: "changed-session", text: `${field}: ${value ?? "default"}` });
}

async function stopSubagent(client: GatewayClient, { sessionKey, key }: Of<"stop-subagent">, dispatch: Dispatch): Promise<void> {
  const { killed } = await client.request("subagents.kill", { sessionKey, idempotencyKey: key });
  dispatch({ type: "answered", text: killed === 0 ? "already finished" : `stopped ${killed} ${killed === 1 ? "sub-agent" : "sub-agents"}` });
}

async function steerSubagent(client: GatewayClient, { sessionKey, message, key }: Of<"steer-subagent">, dispatch: Dispatch): Promise<void> {
  const { steered } = await client.request("subagents.steer", { sessionKey, message, idempotencyKey: key });
  dispatch({ type: "answered", text: steered ? "Message sent to the sub-agent" : "already finished" });
}

async function ask(client: GatewayClient, effect: GatewayEffect, agentId: string, dispatch: Dispatch): Promise<void> {
  switch (effect.kind) {
    case "send":
      return send(client, effect.sent, effect.preferences, dispatch);
    case "history":
      return history(client, effect, dispatch);
    case "facts":
      return facts(client, effect.sessionKey, dispatch);
    case "agents":
      return agents(client, dispatch);
    case "commands":
      return commands(client, effect.agentId, dispatch);
    case "approvals":
      return approvals(client, dispatch);
    case "watch":
      return void (await client.request("chat.watch", { sessionKey: effect.sessionKey }));
    case "pick":
      return pick(client, effect, agentId, dispatch);
    case "heartbeat":
      return dispatch({ type: "answered", text: lastBeatText(await client.request("last-heartbeat", {}), systemClock.now()) });
    case "job":
      return dispatch({ type: "answered", text: await actOnJob(client, effect) });
    case "stop-subagent":
      return stopSubagent(client, effect, dispatch);
    case "steer-subagent":
      return steerSubagent(client, effect, dispatch);
    case "patch":
      return patch(client, effect, dispatch);
    case "reset":
      await client.request("sessions.reset", { key: effect.sessionKey, reason: effect.reason });
      return dispatch({ type: "changed-session", text: "New chat" });
    case "decide":
      return decide(client, effect, dispatch);
    case "abort": {
      const { aborted } = await client.request("chat.abort", { sessionKey: effect.sessionKey });
      if (!aborted) dispatch({ type: "failed", error: "Nothing to stop" });
    }
  }
}

/** What a new connection does anyway. */
const REPEATED: ReadonlySet<Effect["kind"]> = new Set(["send", "history", "facts", "agents", "commands", "approvals", "watch"]);

/** Sends an effect to the gateway. What fails because the connection was lost is repeated on the next one, or reported. */
export async function performAt(client: GatewayClient | undefined, effect: GatewayEffect, agentId: string, dispatch: Dispatch): Promise<void> {
  const lost = (): void => {
    if (effect.kind === "decide") dispatch({ type: "undecided", id: effect.id, error: "Not connected. Decide again once the connection is back" });
    else if (!REPEATED.has(effect.kind)) dispatch({ type: "failed", error: "Not connected. Try again once the connection is back" });
  };
  if (!client || client.state !== "open") return lost();
  try {
    await ask(client, effect, agentId, dispatch);
  } catch (error) {
    if (isRefusal(error) || client.state === "open") dispatch({ type: "failed", error: messageOf(error) });
    else lost();
  }
}
