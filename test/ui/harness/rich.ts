/** A gateway that has been in use for two weeks: conversations, tools, an approval that waits, a channel that fails, usage, a plugin, logs. */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectBench, createDevice, type BenchClient } from "../../../bench/drivers/client.ts";
import type { Place } from "../../harness/gateway-process.ts";
import { openTestStore } from "../../harness/program.ts";
import { openRefusingApi } from "./hostile.ts";
import { openScene, type Scene, type SceneOptions } from "./scene.ts";

const DAY_MS = 86_400_000;

/** One request to the model, and what it answers. */
interface Step {
  readonly say?: string;
  readonly tool?: string;
  readonly args?: string;
  readonly chunks?: number;
  readonly gap?: number;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

interface Story {
  readonly key: string;
  readonly label?: string;
  readonly message: string;
  readonly steps: readonly Step[];
}

const tokens = (input: number, output: number): Required<Pick<Step, "usage">> => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
});

const PLAN = `Here is a plan for the balcony, from what the notes say.

| Where | What | When |
| --- | --- | --- |
| Left box | Tomatoes, two plants | after 15 May |
| Right box | Basil, parsley, chives | now |
| Shade | Mint, in a pot of its own | now |

1. **Soil first.** 40 litres are enough for both boxes.
2. Water in the evening; with the drip line, 12 minutes are about right:

\`\`\`ts
const minutes = (litres: number, perHour = 10): number => (litres / perHour) * 60;
minutes(2); // 12
\`\`\`

Shall I put the dates into \`calendar.md\`?`;

const STORIES: readonly Story[] = [
  {
    key: "agent:main:web:invoice",
    label: "Invoice for March",
    message: "Which invoices are still open?",
    steps: [{ say: "Two are open: **2026-031** (Weber, 840 €) and **2026-034** (Lindqvist, 1,250 €). The first is nine days late.", ...tokens(6200, 310) }],
  },
  {
    key: "agent:main:web:trip",
    label: "Train to Trieste",
    message: "How do I get to Trieste by train without a night on the way?",
    steps: [{ say: "Leave at 6:31, change in Villach and Udine, and you are there at 17:42. There is one more an hour later.", ...tokens(4100, 190) }],
  },
  {
    key: "agent:work:web:release",
    label: "Release notes",
    message: "Summarise what changed since the last release.",
    steps: [{ say: "Three things: the page, the set-up, and a repair for sessions whose transcript was cut off.", ...tokens(11_800, 420) }],
  },
  {
    key: "agent:main:web:cake",
    label: "Cake for the school party",
    message: "What may not be in the cake for Jonas?",
    steps: [
      { tool: "memory_search", args: '{"query":"What is Jonas allergic to?"}', ...tokens(4800, 40) },
      { say: "No walnuts and no hazelnuts; almonds are fine. That is in `MEMORY.md`.", ...tokens(5100, 60) },
    ],
  },
  {
    key: "agent:main:main",
    label: "Balcony",
    message: "Read my note about the balcony and make a plan for planting.",
    steps: [
      { tool: "read", args: '{"path":"balcony.md"}', ...tokens(5200, 60) },
      { tool: "write", args: '{"path":"plan.md","content":"# Balcony\\n\\n- tomatoes after 15 May\\n- herbs now\\n"}', ...tokens(5600, 90) },
      { say: PLAN, gap: 2, ...tokens(6100, 380) },
    ],
  },
];

async function seed(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  const now = Date.now();
  for (let day = 1; day < 14; day += 1) {
    for (const [at, [model, agentId, channel, share]] of (
      [
        ["m1", "main", "webchat", 1],
        ["m1", "work", "telegram", 0.6],
        ["m2", "main", "telegram", 0.35],
      ] as const
    ).entries()) {
      const input = Math.round(share * (28_000 + 9000 * Math.sin(day * 1.7 + at)));
      const usage = {
        input,
        output: Math.round(input / 14),
        cacheRead: input * 2,
        cacheWrite: 0,
        cost: (input * 6) / 1_000_000 + share / 10,
        durationMs: 2400,
      };
      const sessionKey = channel === "telegram" ? `agent:${agentId}:telegram:direct:77` : `agent:${agentId}:main`;
      await store.commit([["usage.add", { sessionKey, agentId, provider: "mock", model, channel, at: now - day * DAY_MS, ...usage }]]);
    }
  }
}

function writePlugin(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const manifest = { id: "weather", name: "Weather", description: "Tells the weather of the day, and warns the balcony of frost.", version: "1.2.0" };
  writeFileSync(
    join(folder, "openclaw.plugin.json"),
    JSON.stringify({ ...manifest, configSchema: { type: "object", additionalProperties: false, properties: { place: { type: "string" } } } }),
  );
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "weather", version: "1.2.0", openclaw: { extensions: ["./index.js"] } }));
  const body = `api.registerCommand({ name: "weather", description: "Today's weather.", handler: () => ({ text: "Sunny, 18 °C." }) }); api.on("before_prompt_build", () => undefined);`;
  writeFileSync(join(folder, "index.js"), `module.exports = { id: "weather", register(api) { ${body} } };`);
}

/** A skill of the user's own, which lacks a program and a key. */
function writeSkill(workspace: string): void {
  const needs = 'metadata: {openclaw: {primaryEnv: "INVOICE_KEY", requires: {bins: ["invoice-tool"], env: ["INVOICE_KEY", "INVOICE_URL"]}}}';
  const folder = join(workspace, "skills", "invoice-check");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), `---\nname: invoice-check\ndescription: Check invoices against orders.\n${needs}\n---\n\nCompare both.\n`);
}

/** A node that was approved and is away, and one that asks. */
async function addNodes(client: BenchClient): Promise<void> {
  const asked = await client.request("node.pair.request", { nodeId: "office", displayName: "Office PC", platform: "linux" });
  await client.request("node.pair.approve", { requestId: (asked["request"] as { readonly requestId: string }).requestId });
  await client.request("node.pair.request", { nodeId: "attic", displayName: "Attic", platform: "darwin", commands: ["system.run", "camera.snap"] });
}

/** What the agent has written down: what always holds, and some days. */
function writeNotes(workspace: string): void {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  const day = (before: number): string => new Date(Date.now() - before * DAY_MS).toISOString().slice(0, 10);
  writeFileSync(
    join(workspace, "MEMORY.md"),
    "# People\n\n## Food and allergies\n\n- Jonas is allergic to walnuts and hazelnuts. Almonds are fine.\n- He carries an EpiPen in the blue backpack.\n- Mara does not eat meat on Fridays.\n\n## Home\n\n| What | Where |\n| --- | --- |\n| Spare key | with Mrs Novak, second floor |\n| Water tap | cellar, left of the stairs |\n",
  );
  const days: readonly (readonly [before: number, text: string])[] = [
    [0, "## Balcony\n\n- Two boxes planted, basil and parsley.\n- The drip line needs a new valve.\n"],
    [
      3,
      "## Birthday cake for Jonas\n\nThe bakery confirmed a cake without nuts. Mara asked to check the marzipan, because Jonas reacts to traces of walnut.\n",
    ],
    [40, "## Trieste\n\nTrattoria da Giovanni marks dishes with nuts on the menu. Table for four on Saturday at 19:30.\n"],
  ];
  for (const [before, text] of days) writeFileSync(join(workspace, "memory", `${day(before)}.md`), text);
  writeFileSync(join(workspace, "memory", "recipes.md"), "# Recipes\n\nWalnut bread: leave the walnuts out when Jonas is here.\n");
}

async function plan(scene: Scene, steps: readonly Step[]): Promise<void> {
  await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(steps) });
}

async function tell(scene: Scene, client: BenchClient, { key, label, message, steps }: Story): Promise<void> {
  await plan(scene, steps);
  await client.turn(key, message, 20_000);
  if (label !== undefined) await client.request("sessions.patch", { key, label });
}

/** Asks for a command that nobody has allowed yet. Resolves when it waits for a decision. */
async function askForCommand(scene: Scene, client: BenchClient): Promise<void> {
  const waits = Promise.withResolvers<void>();
  using _listening = client.on((event) => event === "exec.approval.requested" && waits.resolve());
  await plan(scene, [
    { tool: "exec", args: JSON.stringify({ command: "git -C notes log --oneline --since=1.week" }), ...tokens(3100, 40) },
    { say: "I may look into the history of your notes once you allow it.", ...tokens(3000, 20) },
  ]);
  await client.request("chat.send", { sessionKey: "agent:main:web:notes", message: "What did I write last week?", idempotencyKey: randomUUID() });
  await waits.promise;
  await client.request("sessions.patch", { key: "agent:main:web:notes", label: "Notes of the week" });
}

/** Work that runs at set times. */
const JOBS = [
  {
    name: "Stand-up",
    schedule: { kind: "cron", expr: "0 9 * * 1-5", tz: "Europe/Vienna" },
    sessionTarget: "main",
    payload: { kind: "systemEvent", text: "Stand-up" },
  },
  { name: "Frost warning", schedule: { kind: "every", everyMs: 21_600_000 }, payload: { kind: "agentTurn", message: "Will it freeze tonight?" } },
  { name: "Tax return", schedule: { kind: "cron", expr: "0 8 1 6 *" }, enabled: false, payload: { kind: "systemEvent", text: "The tax return is due" } },
].map((job) => ({ wakeMode: "now", ...job }));

const CONFIG = {
  channels: { telegram: { enabled: true, botToken: "7012345678:AAF-token-of-a-test-0000000000000", dmPolicy: "open", allowFrom: ["*"] } },
  plugins: { load: { paths: ["~/weather"] }, entries: { weather: { enabled: true, config: { place: "Graz" } }, telegram: { enabled: true } } },
  tools: { exec: { host: "gateway", security: "full", ask: "always" } },
};

const connectClient = (scene: Scene): Promise<BenchClient> =>
  connectBench({
    url: scene.url.replace("http", "ws"),
    token: scene.token,
    protocol: 3,
    clientId: "gateway-client",
    clientMode: "backend",
    device: createDevice(),
  });

/** A command waits for a decision for two minutes: where the tests before took longer, another one is asked for. */
export async function ensureApproval(scene: Scene): Promise<void> {
  const client = await connectClient(scene);
  const { approvals } = (await client.request("exec.approval.list", {})) as { readonly approvals: readonly unknown[] };
  if (approvals.length === 0) await askForCommand(scene, client);
  client.close();
}

export async function openRichScene(options: SceneOptions = {}): Promise<Scene> {
  const api = await openRefusingApi("Unauthorized");
  const scene = await openScene({
    model: "mock",
    ...options,
    config: {
      ...CONFIG,
      agents: {
        list: [
          { id: "main", default: true, name: "Claw" },
          { id: "work", name: "Work" },
        ],
      },
      ...options.config,
    },
    gateway: { env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: api.root }, ...options.gateway },
    async prepare(place, workspace) {
      await seed(place);
      writePlugin(join(place.home, "weather"));
      writeNotes(workspace);
      writeSkill(workspace);
      writeFileSync(join(workspace, "balcony.md"), "# Balcony\n\nTwo boxes, one in the shade. Last frost: middle of May.\n");
      await options.prepare?.(place, workspace);
    },
  });
  const client = await connectClient(scene);
  for (const story of STORIES) await tell(scene, client, story);
  await askForCommand(scene, client);
  await addNodes(client);
  for (const job of JOBS) await client.request("cron.add", job);
  client.close();
  return {
    ...scene,
    get gateway() {
      return scene.gateway;
    },
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}
