/** The states in which every page is looked at: nothing was ever done, in use, used by many for long, and a gateway that refuses everything. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { connectBench, createDevice } from "../../../bench/drivers/client.ts";
import type { Place } from "../../harness/gateway-process.ts";
import { openTestStore } from "../../harness/program.ts";
import { line, said, seedSession } from "../../harness/seeded-session.ts";
import { openRichScene } from "./rich.ts";
import { openScene, type Scene } from "./scene.ts";

export const STATES = ["empty", "typical", "full", "error"] as const;
export type State = (typeof STATES)[number];

const SESSIONS = 400;
const AGENTS = 14;
const JOBS = 60;
const NOTES = 80;

/** Names as people really give them: long, in other scripts, from right to left, of one letter. */
const NAMES = [
  "Quarterly report of the department for environmental and consumer protection, second draft",
  "تقرير الربع الأول",
  "会议记录：产品路线图与下一季度的计划",
  "x",
  "Verkehrsinfrastrukturfinanzierungsgesellschaft",
  "naïve café 🧁 menu",
] as const;
const nameOf = (at: number): string => `${NAMES[at % NAMES.length]} ${Math.floor(at / NAMES.length) + 1}`;

const answered = (text: string) => ({ message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" } });

async function fillStore(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  for (let at = 0; at < SESSIONS; at += 1) {
    const [key, sessionId] = [`agent:main:web:many-${at}`, `many-${at}`];
    const fields = [said(`Please look at ${nameOf(at)}.`), answered(`I looked at ${nameOf(at)}; there is nothing to do.`)];
    await seedSession(
      store,
      fields.map((field, n) => line(`${n}`, n === 0 ? null : `${n - 1}`, field, n)),
      key,
      sessionId,
    );
    const updatedAt = Date.now() - at * 3_600_000;
    await store.commit([["sessions.put", { key, agentId: "main", entry: { sessionId, updatedAt, label: nameOf(at), displayName: nameOf(at) }, version: 1 }]]);
  }
}

function fillWorkspace(workspace: string): void {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  for (let at = 0; at < NOTES; at += 1) writeFileSync(join(workspace, "memory", `note-${at}.md`), `# ${nameOf(at)}\n\n- written down once more\n`);
}

async function addJobs(scene: Scene): Promise<void> {
  const url = scene.url.replace("http", "ws");
  const client = await connectBench({ url, token: scene.token, protocol: 3, clientId: "gateway-client", clientMode: "backend", device: createDevice() });
  for (let at = 0; at < JOBS; at += 1) {
    const schedule = at % 2 === 0 ? { kind: "every", everyMs: (at + 1) * 600_000 } : { kind: "cron", expr: `${at % 60} ${at % 24} * * *`, tz: "Europe/Vienna" };
    await client.request("cron.add", { name: nameOf(at), schedule, wakeMode: "now", payload: { kind: "agentTurn", message: `Look at ${nameOf(at)}.` } });
  }
  client.close();
}

async function openFullScene(): Promise<Scene> {
  const agents = Array.from({ length: AGENTS }, (_, at) => ({ id: `agent-${at}`, name: nameOf(at) }));
  const scene = await openRichScene({
    config: { agents: { list: [{ id: "main", default: true, name: "Claw" }, { id: "work", name: "Work" }, ...agents] } },
    prepare: async (place, workspace) => {
      await fillStore(place);
      fillWorkspace(workspace);
    },
  });
  await addJobs(scene);
  return scene;
}

/** A gateway in this state. In `error` it is one in use; `refuseRequests` makes it refuse. */
export function openState(state: State): Promise<Scene> {
  if (state === "empty") return openScene({ model: "mock" });
  return state === "full" ? openFullScene() : openRichScene();
}

/** From now on every request of the page but the handshake gets an error: what a page shows when its data cannot be had. */
export async function refuseRequests(page: Page): Promise<void> {
  const error = { code: "UNAVAILABLE", message: "the store did not answer within 5 s", retryable: true };
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { type: string; id: string; method: string };
      if (frame.type === "req" && frame.method !== "connect") socket.send(JSON.stringify({ type: "res", id: frame.id, ok: false, error }));
      else server.send(message);
    });
  });
}
