/** The pages about channels, tried: their commands in a real program, their plugin in a real host, their numbers against the code. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createTestHost } from "../../src/plugin-testing/index.ts";
import { manualClock } from "../../src/base/clock.ts";
import { loadConfig, validate } from "../../src/config/index.ts";
import { formatInboundEnvelope } from "../../src/channels/index.ts";
import { expandChannelConfigs } from "../../src/plugins/inventory/channel-keys.ts";
import { blockSettings } from "../../src/conversation/reply/blocks.ts";
import { typingIntervalMs, typingMode } from "../../src/conversation/reply/typing.ts";
import { retryPolicy } from "../../src/conversation/delivery/step.ts";
import type { Item } from "../../src/conversation/items.ts";
import { createSessionLane, type ActiveTurn, type Batch } from "../../src/conversation/lanes.ts";
import { queueSettings, type QueueMode } from "../../src/sessions/index.ts";
import { readPage, ticked } from "../harness/docs-page.ts";
import { makePlace, ROOT } from "../harness/gateway-process.ts";

const FOLDER = "docs/channels";
const pages = readdirSync(join(ROOT, FOLDER)).filter((name) => name.endsWith(".md"));
const page = (name: string) => readPage(join(FOLDER, `${name}.md`));

const place = makePlace();
afterAll(() => rmSync(place.home, { recursive: true, force: true }));

/** A line of a shell, without a shell. */
const words = (line: string): string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

/** What differs from one time to the next. */
const steady = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/^in:\d+ /gm, "in:<row> ")
    .replaceAll(/\d{4}-\d{2}-\d{2}/g, "<day>")
    .replaceAll(/\d{2}:\d{2}:\d{2}\.\d{3}/g, "<time>")
    .replaceAll(/ *\b[\d.]+m?s\b/g, " <took>")
    // Columns are as wide as what stands in them.
    .replaceAll(/(?<=\S) {2,}/g, "  ")
    .replaceAll(/\d+ (tokens in|out)/g, "<n> $1");

test("the commands of the pages work as they stand there, one after the other, and print what stands below them", { timeout: 120_000 }, () => {
  const order = ["overview", "irc", "webchat", "command-line"];
  const lines = order.flatMap((name) =>
    page(name)
      .examples.filter(({ line }) => line !== "openclaw gateway")
      .map((example) => ({ name, ...example })),
  );
  expect(lines.length).toBeGreaterThan(6);
  for (const { name, line, output } of lines) {
    const [program, ...args] = words(line);
    expect([name, program]).toEqual([name, "openclaw"]);
    // The page about WebChat asks a running gateway; nobody runs one here.
    const local = args[0] === "agent" && !args.includes("--local") ? ["--local"] : [];
    const { code, stdout, stderr } = place.cli(...args, ...local);
    expect([line, code, code === 0 ? "" : stderr]).toEqual([line, 0, ""]);
    if (output !== undefined) expect(steady(stdout)).toBe(steady(output));
  }
});

/** The schemas of the channels that come along. */
const CHANNEL_SCHEMAS = Object.fromEntries(
  readdirSync(join(ROOT, "plugins")).flatMap((plugin) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "plugins", plugin, "openclaw.plugin.json"), "utf8")) as { channelConfigs?: unknown };
    const configs = (expandChannelConfigs(manifest.channelConfigs) ?? {}) as Record<string, { schema?: Parameters<typeof validate>[0] }>;
    return Object.entries(configs).flatMap(([id, { schema }]) => (schema === undefined ? [] : [[id, schema] as const]));
  }),
);

test("the configurations of the pages are valid, also for the channels that they are for", () => {
  const shown = pages.flatMap((name) => readPage(join(FOLDER, name)).blocks.filter(({ language }) => language === "json5"));
  expect(shown.length).toBeGreaterThan(3);
  const folder = mkdtempSync(join(tmpdir(), "channels-docs-"));
  const path = join(folder, "openclaw.json");
  const issuesOf = (text: string) => {
    writeFileSync(path, text);
    const { snapshot } = loadConfig({ path, env: {}, osHome: folder, cwd: folder });
    const channels = (snapshot.resolved as { channels?: Record<string, unknown> }).channels ?? {};
    return Object.entries(channels).flatMap(([id, section]) => validate(CHANNEL_SCHEMAS[id]!, section));
  };
  for (const { text } of shown) {
    expect([text, issuesOf(text)]).toEqual([text, []]);
    const section = new RegExp(`\\b(${Object.keys(CHANNEL_SCHEMAS).join("|")}): \\{`);
    if (section.test(text)) expect(issuesOf(text.replace(section, "$1: { nonsense: 1,"))).not.toEqual([]);
  }
  rmSync(folder, { recursive: true, force: true });
});

test("every other command that the pages name is one that there is", () => {
  const known = new Map<string, string>();
  const help = (command: string): string => {
    if (!known.has(command)) known.set(command, place.cli(...command.split(" "), "--help").stdout);
    return known.get(command)!;
  };
  const named = pages.flatMap((name) =>
    ticked(readPage(join(FOLDER, name)).text)
      .filter((text) => /^openclaw \w+/.test(text))
      .map((text) => ({ name, text })),
  );
  expect(named.length).toBeGreaterThan(8);
  for (const { name, text } of named) {
    const [, command, ...rest] = words(text);
    const shown = help(command!);
    expect([name, text, shown.startsWith(`openclaw ${command}`)]).toEqual([name, text, true]);
    if (/^Commands$/m.test(shown) && rest[0] !== undefined && /^\w+$/.test(rest[0]))
      expect(shown, `${name}: ${text}`).toMatch(new RegExp(`^ +${rest[0]}\\b`, "m"));
    for (const flag of rest.filter((word) => word.startsWith("--"))) {
      const below = rest[0] !== undefined && !rest[0].startsWith("-") && /^Commands$/m.test(shown) ? help(`${command} ${rest[0]}`) : shown;
      expect(below, `${name}: ${text}`).toContain(flag);
    }
  }
});

test("the envelopes are written as the page shows them", () => {
  const at = Date.UTC(2026, 0, 18, 5, 19);
  const common = {
    channel: "Telegram",
    timestamp: at,
    previousTimestamp: at - 120_000,
    body: "hello",
    sender: { name: "Ada", id: "1" },
    envelope: { timezone: "utc" },
  };
  const shown = [formatInboundEnvelope({ ...common, chatType: "direct" }), formatInboundEnvelope({ ...common, chatType: "group", from: "Friends id:-1001" })];
  expect(page("messages").blocks[0]!.text).toBe(`${shown.join("\n")}\n`);
});

test("numbers and defaults of the pages are those of the code", () => {
  const queue = queueSettings({}, undefined, undefined);
  const defaults = Object.fromEntries(
    page("messages")
      .rowsOf("| setting | default | |")
      .map(([name, value]) => [ticked(name!)[0], value!.replaceAll("`", "")]),
  );
  expect(defaults).toEqual({ debounceMs: String(queue.debounceMs.value), cap: String(queue.cap.value), drop: queue.drop.value });
  const modes = page("messages").rowsOf("| mode | what happens to a message that arrives during the turn |");
  expect(ticked(modes.find(([name]) => name!.includes("(default)"))![0]!)).toEqual([queue.mode.value]);
  const { attempts, minDelayMs, maxDelayMs, jitter } = retryPolicy({}, "x", "default", undefined);
  expect(page("delivery").text).toContain(`${attempts}, with ${minDelayMs} ms, then twice as long each time up to ${maxDelayMs / 1000} s, varied by a tenth`);
  expect(jitter).toBe(0.1);
  const blocks = blockSettings({}, { plugin: undefined, channel: "x", accountId: "default", agentId: "main" });
  const rows = new Map(
    page("streaming")
      .rowsOf("| setting of `agents.defaults` | default | |")
      .map(([name, value]) => [ticked(name!)[0], value!.replaceAll("`", "")]),
  );
  expect(rows.get("blockStreamingDefault")).toBe(blocks.enabled ? "on" : "off");
  expect(rows.get("blockStreamingBreak")).toBe(blocks.breakAt);
  expect(rows.get("blockStreamingChunk")).toBe(`${blocks.chunk.minChars} to ${blocks.chunk.maxChars} characters`);
  expect(rows.get("blockStreamingCoalesce")).toBe(`${blocks.coalesce.idleMs} ms`);
  const typing = page("streaming").rowsOf("| `typingMode` | the sign is shown |");
  const modeSaid = (text: string): string | undefined => ticked(typing.find(([, when]) => when!.includes(text))![0]!)[0];
  expect(modeSaid("Default in direct")).toBe(typingMode({}, { chatType: "direct", wasMentioned: false, isHeartbeat: false }));
  expect(modeSaid("Default elsewhere")).toBe(typingMode({}, { chatType: "group", wasMentioned: false, isHeartbeat: false }));
  expect(page("streaming").text).toContain(`\`typingIntervalSeconds\` (${typingIntervalMs({}) / 1000})`);
});

/** What a lane does with messages that come while a turn runs: shown to it, and the turns that follow. */
function laneOf(mode: QueueMode) {
  const clock = manualClock();
  const turns: string[][] = [];
  const steered: string[] = [];
  const dropped: string[] = [];
  let interrupted = false;
  const text = (item: unknown): string => (item as Item).text;
  const turn: ActiveTurn = { steer: (item) => (steered.push(text(item)), true), interrupt: () => void (interrupted = true), unshown: () => [] };
  const lane = createSessionLane({
    clock,
    start: ({ items }: Batch) => void turns.push(items.map(text)),
    drop: (items) => void dropped.push(...items.map(text)),
  });
  const queue = queueSettings({ messages: { queue: { mode } } }, undefined, "x");
  const address = { channel: "x", accountId: "default", to: "ada", chatType: "direct" };
  const message = { address, event: {}, receivedAt: 0 };
  const add = (said: string): void => lane.add({ sessionKey: "s", agentId: "main", text: said, queue, messages: [message], last: message } as never);
  add("first");
  lane.began(turn);
  add("second");
  add("third");
  for (let round = 0; round < 3; round += 1) {
    lane.ended();
    clock.advance(2000);
  }
  return { after: turns.slice(1), steered, dropped, interrupted };
}

test("the table of queue modes says what happens", () => {
  const rows = page("messages").rowsOf("| mode | what happens to a message that arrives during the turn |");
  expect(rows.map(([name]) => ticked(name!)[0])).toEqual(["collect", "followup", "steer", "steer-backlog", "interrupt"]);
  const happens: Readonly<Record<string, ReturnType<typeof laneOf>>> = {
    collect: { after: [["second", "third"]], steered: [], dropped: [], interrupted: false },
    followup: { after: [["second"], ["third"]], steered: [], dropped: [], interrupted: false },
    steer: { after: [], steered: ["second", "third"], dropped: [], interrupted: false },
    "steer-backlog": { after: [["second"], ["third"]], steered: ["second", "third"], dropped: [], interrupted: false },
    interrupt: { after: [["third"]], steered: [], dropped: ["second"], interrupted: true },
  };
  for (const [name] of rows) {
    const mode = ticked(name!)[0]!;
    expect([mode, laneOf(mode as QueueMode)]).toEqual([mode, happens[mode]]);
  }
});

test("the channel of the page about writing one takes a message and answers it", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "pigeon-"));
  const { text } = page("writing").blocks.find(({ language }) => language === "ts")!;
  writeFileSync(join(folder, "pigeon.ts"), text);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "pigeon", version: "1.0.0", type: "module", openclaw: { extensions: ["./pigeon.ts"] } }));
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "pigeon", channels: ["pigeon"], configSchema: { type: "object", properties: {} } }));
  await using host = await createTestHost({ plugins: [folder], config: { channels: { pigeon: { dmPolicy: "open", allowFrom: ["*"] } } } });
  expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
  await host.ready();
  host.script(["hello Ada"]);
  expect(JSON.stringify(await host.request("pigeon.arrived", { from: "ada", text: "hello", ring: "r1" }))).toContain(`"outcome":"accepted"`);
  await host.idle();
  expect(JSON.stringify(await host.request("pigeon.flown", {}))).toContain("ada: hello Ada");
  rmSync(folder, { recursive: true, force: true });
});
