import type { ShownReplies, Spoken, TurnEnd } from "../../agent/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import { reasoningLevel, usageFooter as usageLevel } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { ConversationDeps } from "../ports.ts";
import { clientReply, isHeld, type ClientReply } from "./client-reply.ts";
import type { ClientRun } from "./run.ts";

/** The session's settings may add reasoning and usage to the answer. Undefined: nothing but the answer. Only for callers whose text may be a command. */
async function shownParts(run: ClientRun, end: TurnEnd, thoughts: string, { store }: ConversationDeps): Promise<readonly string[] | undefined> {
  const { row, hints } = run;
  if (row.scopes === undefined || end.status !== "ok" || end.silent === true || (end.text === "" && end.stopReason !== "length")) return undefined;
  const entry = (await store.read("sessions.get", { key: row.sessionKey }))?.entry;
  const usage = usageLevel(entry).value;
  const showsThoughts = reasoningLevel(entry, hints?.reasoning).value === "on";
  if (usage === "off" && !showsThoughts && end.stopReason !== "length") return undefined;
  const { reasoningPayload, answerFooter } = await import("../reply/index.ts");
  const reasoning = showsThoughts ? reasoningPayload(thoughts)?.text : undefined;
  const footer = answerFooter(end, { level: usage, sessionKey: row.sessionKey });
  if (reasoning === undefined && footer === undefined) return undefined;
  return [...(reasoning === undefined ? [] : [reasoning]), [end.text, footer].filter(Boolean).join("\n\n")];
}

type Ended = Pick<TurnEnd, "text" | "texts"> & Partial<TurnEnd>;

/** The answer as it is sent to a channel, when the client asked for that. */
async function channelPayloads({ row }: ClientRun, ended: Ended, deps: ConversationDeps): Promise<readonly ReplyPayload[]> {
  const { reply: address, sessionKey, agentId } = row;
  if (!address) return [];
  const { openReplyStream } = await import("../reply/index.ts");
  const { clock, random, log, config } = deps;
  // Of a text before a call nobody knows yet what it took.
  const usage = ended.usage ? usageLevel((await deps.store.read("sessions.get", { key: sessionKey }))?.entry).value : "off";
  const stream = openReplyStream({
    plugin: undefined,
    address,
    cfg: config.current,
    agentId,
    sessionKey,
    levels: () => ({ verbose: "off", reasoning: "off", usage }),
    wasMentioned: true,
    isHeartbeat: false,
    clock,
    random,
    log,
    say: async () => {},
    spoken: [],
    prefixFacts: {},
    localRoots: deps.mediaRoots?.(agentId) ?? [],
  });
  const now = clock.now();
  return (await stream.finish({ status: "ok", sessionId: "", startedAt: now, endedAt: now, usage: [], ...ended })).payloads;
}

/** What a client is shown of a turn, after plugins decided about it. */
export interface ClientAnswer {
  /** Plugins decide what is shown: until they have, nothing may be. */
  readonly held: boolean;
  /** What is shown, where that is more than the answer's text. */
  readonly parts: readonly string[] | undefined;
  readonly reply: ClientReply | undefined;
  /** The answer's text was shown before a call, and nothing came after it. */
  readonly isShown: boolean;
  /** Asks plugins about a text that the model wrote before a call; `show` is called with what they left of it. */
  readonly spoken: ((text: string) => Promise<Spoken | undefined>) | undefined;
  /** What is committed with the end of the turn. */
  finish(end: TurnEnd, thoughts: string): Promise<readonly Write[] | ShownReplies>;
}

export function createClientAnswer(run: ClientRun, deps: ConversationDeps, show: (text: string) => void): ClientAnswer {
  const { row } = run;
  const held = isHeld(deps, row);
  const between: { readonly text: string; readonly reply: ClientReply }[] = [];
  let parts: readonly string[] | undefined;
  let reply: ClientReply | undefined;
  let isShown = false;

  const noted = (log: ClientReply["log"]): readonly Write[] =>
    log.length === 0 ? [] : [["journal.append", { turnId: row.runId, kind: "note", data: { hooks: log } }]];

  async function spoken(text: string): Promise<Spoken | undefined> {
    const asked = await clientReply(deps, row, row.reply ? await channelPayloads(run, { text, texts: [text] }, deps) : [{ text }], { kind: "block" });
    between.push({ text, reply: asked });
    const shown = asked.texts.join("\n\n");
    // Before the commit, as without plugins: a client that joins after it reads the text in the transcript.
    if (shown !== "") show(asked.changed ? shown : text);
    return { ...(asked.changed ? { shown } : {}), writes: [...asked.writes, ...noted(asked.log)], committed: () => asked.sent() };
  }

  /** The end without the texts that plugins decided about while the turn ran. */
  const rest = (end: TurnEnd): Ended => {
    if (between.length === 0) return end;
    const isDone = (text: string): boolean => between.some((one) => one.text.includes(text));
    return { ...end, texts: end.silent ? end.texts.filter((text) => !isDone(text)) : end.texts.slice(between.length) };
  };

  async function decide(end: TurnEnd, thoughts: string): Promise<void> {
    const usageState = { provider: end.provider, model: end.model, usage: end.usage.at(-1) };
    const last = between.at(-1);
    if (last && end.status === "ok" && end.silent !== true && end.texts.length <= between.length) {
      isShown = true;
      reply = { ...last.reply, writes: [], log: [], sent: () => {} };
      return;
    }
    parts = await shownParts(run, end, thoughts, deps).catch(() => undefined);
    if (row.reply) {
      reply = await clientReply(deps, row, await channelPayloads(run, rest(end), deps), { kind: "final", usageState });
      return;
    }
    const isSaid = (end.status === "ok" || end.status === "blocked") && end.silent !== true && (parts !== undefined || end.text !== "");
    if (!isSaid) return;
    const payloads = (parts ?? [end.text]).map((text) => ({ text }));
    reply = await clientReply(deps, row, payloads, { kind: "final", usageState });
  }

  return {
    held,
    get parts() {
      return parts;
    },
    get reply() {
      return reply;
    },
    get isShown() {
      return isShown;
    },
    spoken: held ? spoken : undefined,
    async finish(end, thoughts) {
      await decide(end, thoughts);
      const { log = [], writes = [] } = reply ?? {};
      const all: Write[] = [...writes, ...noted(log)];
      if (reply?.changed) return { writes: all, shown: reply.texts.join("\n\n"), ...(isShown ? { isWritten: true } : {}) };
      // Plugins were not asked about part of an answer.
      return held && (end.status === "aborted" || end.status === "failed") ? { writes: all, shown: "" } : all;
    },
  };
}
