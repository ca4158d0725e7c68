/** What others ask for: lines that wake an agent, webhooks, sub-agents. Who gets no answer asks again, under the same key. */
import { createHmac } from "node:crypto";
import type { RawClient } from "../../harness/gateway-client.ts";
import { childrenOf } from "./model.ts";
import { ask, judgeWord, rowsOf, until, type Aftermath, type Starter } from "./starters.ts";

export const HOOK_TOKEN = "token-of-the-campaign-0123456789abcdef";
export const HOOK_SECRET = "secret-of-the-campaign-0123456789abcdef";

/** A request that is made until it is answered. */
interface Asked<T> {
  answer: T | undefined;
  readonly make: (client: RawClient, url: string) => Promise<T>;
}

async function tryOnce<T>(client: RawClient, url: string, make: Asked<T>["make"]): Promise<Asked<T>> {
  return { answer: await make(client, url).catch(() => undefined), make };
}

const answerOf = async <T>({ answer, make }: Asked<T>, { client, url }: Aftermath): Promise<T> => answer ?? make(client, url);

const LINES = 2;

/** Every beat has ended, and the last one is the one that is reported. */
async function judgeBeats({ client, stateDir, isClockSet }: Aftermath): Promise<readonly string[]> {
  const newest = "SELECT ended_at AS endedAt FROM inbox JOIN turns ON turns.id = message_id WHERE kind = 'heartbeat' ORDER BY inbox.id DESC LIMIT 1";
  const open = "SELECT id FROM turns WHERE id LIKE 'heartbeat:%' AND state = 'running'";
  await until(() => (rowsOf(stateDir, open).length === 0 ? true : undefined), "the end of all heartbeats");
  const [beat] = rowsOf(stateDir, newest);
  // Times of different clocks cannot be compared.
  if (!beat || isClockSet) return [];
  const isReported = async (): Promise<true | undefined> => {
    const last = await ask<{ ts: number } | null>(client, "last-heartbeat", {});
    return last !== null && last.ts >= Number(beat["endedAt"]) ? true : undefined;
  };
  return until(isReported, "the record of the last heartbeat").then(
    () => [],
    (error: unknown) => [String(error)],
  );
}

/** Lines that wake the main session, beside beats at regular times. */
export const beats: Starter = {
  name: "heartbeat",
  takesMs: 1800,
  places: ["heartbeat.due", "heartbeat.accepted", "heartbeat.reported", "inbox.committed", "turn.started", "model.result.committed", "tool.done"],
  async begin({ client, url, round }) {
    const words = Array.from({ length: LINES }, (_, n) => `b${round}-${n}`);
    const asked: Asked<unknown>[] = [];
    for (const word of words) {
      const params = { mode: "now", text: `Line ${word}: do ${word}`, idempotencyKey: `wake-${word}` };
      asked.push(await tryOnce(client, url, (to) => ask(to, "wake", params)));
    }
    return {
      words,
      async judge(aftermath) {
        const found = words.map(async (word, n) => {
          // One whose outcome is not known has run once at most.
          const isAccepted = await answerOf(asked[n]!, aftermath).then(
            () => true,
            (error: unknown) => (String(error).includes('"outcome":"unknown"') ? false : Promise.reject(error)),
          );
          return isAccepted ? judgeWord(aftermath, word) : [];
        });
        return [...(await Promise.all(found)).flat(), ...(await judgeBeats(aftermath))];
      },
    };
  },
};

interface Hook {
  readonly word: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One with a token and the key of its sender, one that is signed as GitHub does it. */
function hooksOf(round: number): readonly Hook[] {
  const [plain, signed] = [`h${round}-p`, `h${round}-s`];
  const body = JSON.stringify({ action: `do ${signed}`, name: signed });
  const signature = createHmac("sha256", HOOK_SECRET).update(body).digest("hex");
  return [
    {
      word: plain,
      path: "agent",
      body: JSON.stringify({ message: `do ${plain}`, name: plain, deliver: false }),
      headers: { authorization: `Bearer ${HOOK_TOKEN}`, "idempotency-key": plain },
    },
    { word: signed, path: "github", body, headers: { "x-hub-signature-256": `sha256=${signature}`, "x-github-delivery": signed, "x-github-event": "push" } },
  ];
}

async function post(url: string, { path, body, headers }: Hook): Promise<string> {
  const response = await fetch(`${url}/hooks/${path}`, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
  const answer = (await response.json()) as { readonly runId?: string };
  if (response.status !== 202 || answer.runId === undefined) throw new Error(`/hooks/${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer.runId;
}

/** A line for the main session, with the key of its sender. */
function lineOf(round: number): Hook {
  const word = `h${round}-w`;
  const body = JSON.stringify({ text: `Line ${word}: do ${word}`, mode: "now" });
  return { word, path: "wake", body, headers: { authorization: `Bearer ${HOOK_TOKEN}`, "idempotency-key": word } };
}

async function postLine(url: string, { path, body, headers }: Hook): Promise<true> {
  const response = await fetch(`${url}/hooks/${path}`, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
  if (response.status !== 200) throw new Error(`/hooks/${path} answered ${response.status}: ${await response.text()}`);
  return true;
}

/** A request that was accepted is one run, and the main session is notified of it once. */
async function judgeHook(aftermath: Aftermath, { word }: Hook, asked: Asked<string>): Promise<readonly string[]> {
  const runId = await answerOf(asked, aftermath);
  const broken = await judgeWord(aftermath, word);
  await until(() => (aftermath.model.seen(`Hook ${word}`) > 0 ? true : undefined), `the report of ${word}`);
  const runs = rowsOf(aftermath.stateDir, "SELECT id FROM inbox WHERE message_id = ?", runId).length;
  return runs === 1 ? broken : [...broken, `${word} was accepted as ${runId} and has ${runs} runs`];
}

export const webhooks: Starter = {
  name: "webhooks",
  takesMs: 1500,
  places: ["webhook.begun", "webhook.wake.begun", "webhook.accepted", "webhook.wake.queued", "webhook.ended", "webhook.reported", "webhook.finished"],
  async begin({ client, url, round }) {
    const hooks = hooksOf(round);
    const asked = await Promise.all(hooks.map((hook) => tryOnce(client, url, (_, to) => post(to, hook))));
    const line = lineOf(round);
    const askedLine = await tryOnce(client, url, (_, to) => postLine(to, line));
    return {
      words: [...hooks, line].map(({ word }) => word),
      async judge(aftermath) {
        await answerOf(askedLine, aftermath);
        const found = await Promise.all(asked.map((one, n) => judgeHook(aftermath, hooks[n]!, one)));
        return [...found.flat(), ...(await judgeWord(aftermath, line.word))];
      },
    };
  },
};

/** Each child has one end, which reached its parent once. */
async function judgeChildren(aftermath: Aftermath, sessionKey: string, word: string): Promise<readonly string[]> {
  const { stateDir, model } = aftermath;
  const children = childrenOf(word);
  const query = "SELECT outcome FROM subagents WHERE requester_session_key = ? AND state = 'ended' AND announced = 1";
  const ended = await until(() => {
    const rows = rowsOf(stateDir, query, sessionKey);
    return rows.length >= children.length ? rows : undefined;
  }, `the report of the children of ${word}`);
  const broken = (await Promise.all(children.map((child) => judgeWord(aftermath, child)))).flat();
  const all = rowsOf(stateDir, "SELECT run_id FROM subagents WHERE requester_session_key = ?", sessionKey).length;
  if (all !== children.length) broken.push(`${word} has ${all} children`);
  for (const { outcome } of ended) if (outcome !== "ok") broken.push(`a child of ${word} ended as ${String(outcome)}`);
  for (const child of children) await until(() => (model.seen(`child ${child}`) > 0 ? true : undefined), `the delivery of ${child}`);
  return broken;
}

export const subagents: Starter = {
  name: "sub-agents",
  takesMs: 2500,
  places: ["subagent.spawned", "subagent.announced", "tool.intent.committed", "tool.done", "turn.started", "store.group.committed"],
  async begin({ client, url, round }) {
    const word = `k${round}`;
    const sessionKey = `agent:main:parent-${round}`;
    const message = { sessionKey, message: `spawn ${word}`, idempotencyKey: `spawn-${word}` };
    const asked = await tryOnce(client, url, (to) => ask(to, "chat.send", message));
    return {
      words: [...childrenOf(word)],
      async judge(aftermath) {
        await answerOf(asked, aftermath);
        return judgeChildren(aftermath, sessionKey, word);
      },
    };
  },
};
