import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { isGroup, type Entry, type Example } from "../../src/cli/command.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openStore } from "../../src/store/index.ts";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";
import { createStranger } from "../harness/stranger.ts";
import { enter } from "../harness/device-client.ts";
import { startHost } from "../nodes/host-process.ts";

async function examplesOf(entries: readonly Entry[]): Promise<Example[]> {
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const loaded = await entry.load();
      return isGroup(loaded) ? [...loaded.examples, ...(await examplesOf(loaded.entries))] : loaded.examples;
    }),
  );
  return lists.flat();
}

const examples = [...new Set((await examplesOf(COMMANDS)).map(({ line }) => line))];
/** These run until they are stopped. */
const ENDLESS = /^openclaw gateway(?: run)?(?: --[a-z].*)?$|--follow/;
/** These need a terminal: `test/tui` runs them in one. */
const IN_TERMINAL = /^openclaw tui\b/;
/** These need a channel that runs, or a message that it could not deliver: `channels-run.test.ts` and `test/cli/message.test.ts` have them. */
const WITH_CHANNEL = /^openclaw (?:channels (?:start|stop|restart)|message resend)\b/;
/** These ask a gateway about nodes. */
const ABOUT_NODES = /^openclaw nodes\b/;
/** These ask a gateway that runs. */
const ASKING =
  /^openclaw (?:agent|browser|cron (?!next (?!--id))|dashboard|health|call|devices|approvals (?:pending|resolve)|plugins (?:stats|reload)|system|gateway (?:call|health|probe|restart|stop|usage-cost))\b/;
/** These end it, or change what others ask for. */
const ENDING = /^openclaw (?:gateway (?:restart|stop)|devices|plugins reload|approvals)\b/;
const TOKEN = "a-token-of-this-test-0123456789";

let place: Place;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  place = makePlace();
  const bin = join(place.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "openclaw"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/openclaw")}" "$@"\n`, { mode: 0o755 });
  env = {
    ...place.env,
    OPENCLAW_BUNDLED_SKILLS_DIR: undefined,
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    OPENCLAW_GATEWAY_PORT: String(await freePort()),
  };
});

/** A state folder as a used installation has it: an earlier example may have replaced it, or taken away what this one reads. */
async function prepare(line: string): Promise<void> {
  const several = line.startsWith("openclaw agents ");
  const list = several ? ', list: [{ id: "main" }, { id: "work" }]' : "";
  const bindings = several ? '  bindings: [{ agentId: "work", match: { channel: "telegram", accountId: "office" } }],\n' : "";
  const agents = `  agents: { defaults: { maxConcurrent: 4, model: { primary: "builtin/offline" } }${list} },\n`;
  place.configure(`{\n  // ours\n  gateway: { mode: "local", port: 19123, auth: { token: "${TOKEN}" } },\n${agents}${bindings}}\n`);
  const plugin = join(place.stateDir, "extensions", "hello");
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, "openclaw.plugin.json"), `{ "id": "hello", "configSchema": {} }`);
  writeFileSync(join(plugin, "index.js"), "export function register() {}");
  const hook = join(place.home, "greeter");
  mkdirSync(hook, { recursive: true });
  writeFileSync(join(hook, "HOOK.md"), '---\nname: greeter\nmetadata: {"openclaw":{"events":["command:new"]}}\n---\n');
  writeFileSync(join(hook, "handler.js"), 'export default (event) => event.messages.push("Hello");\n');
  const workspace = join(place.stateDir, "workspace-work");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "IDENTITY.md"), "- **Name:** Ada\n");
  writeFileSync(join(place.home, "questions.jsonl"), '{"query":"who is the plumber","expect":[{"path":"MEMORY.md","line":3}]}\n');
  mkdirSync(join(place.stateDir, "workspace"), { recursive: true });
  writeFileSync(join(place.stateDir, "workspace", "MEMORY.md"), "# People\n\n- The plumber is Werner Hopp.\n");
  writeFileSync(join(place.home, "key.txt"), "a-key-of-this-test-0123456789\n");
  if (!existsSync(join(place.stateDir, "logs"))) {
    const gateway = await place.gateway();
    gateway.child.kill("SIGTERM");
    await gateway.exited;
  }
  writeFileSync(join(place.home, "pass.txt"), "a passphrase of this test\n", { mode: 0o600 });
  if (/\b(?:why|pairing|REMEMBERED_ID)\b/.test(line)) await prepareMessages();
}

/** A message that was answered, and a stranger who waits with a code. */
async function prepareMessages(): Promise<void> {
  await using store = await openStore({ stateDir: place.stateDir, clock: systemClock });
  const message = { channel: "telegram", account: "default", conversation: "123", messageId: "4711", kind: "message", text: "hello", sender: "123" };
  await store.write("inbox.accept", { ...message, sessionKey: "agent:main:main", agentId: "main", settled: { outcome: "silent", why: "an example" } });
  for (const { id } of await store.read("pairing.list", { now: systemClock.now() })) await store.write("pairing.take", { id });
  const data = { senderId: "123", channel: "telegram", accountId: "default" };
  const expiresAt = systemClock.now() + 600_000;
  await store.write("commands.allow", {
    id: "REMEMBERED_ID",
    agentId: "main",
    program: "/bin/x",
    rule: { kind: "exact", args: [], cwd: "/", files: [] },
    command: "x",
  });
  await store.write("allow.add", { channel: "telegram", account: "default", sender: "123456789", source: "pairing" });
  await store.write("pairing.request", { id: "example", kind: "channel", subject: "telegram:default:123", code: "ABCD2345", expiresAt, data });
}

/** The names of a device that waits, and of one that is in. */
async function withDevices(line: string, url: string): Promise<string> {
  if (!/REQUEST_ID|--latest|DEVICE_ID/.test(line)) return line;
  const stranger = createStranger(url, TOKEN);
  const requestId = await stranger.ask();
  if (line.includes("DEVICE_ID")) expect(place.cli("devices", "approve", requestId).code).toBe(0);
  return line.replace("REQUEST_ID", requestId).replace("DEVICE_ID", stranger.deviceId);
}

/** The name of a question that waits for an answer. */
async function withQuestion(line: string): Promise<string> {
  if (!line.includes("APPROVAL_ID")) return line;
  const id = crypto.randomUUID();
  spawn("sh", ["-c", `openclaw call exec.approval.request --params '{ id: "${id}", command: "ls" }' --timeout 20000`], { env, stdio: "ignore" });
  const waits = () => (JSON.parse(place.cli("approvals", "pending", "--json").stdout) as { approvals: { id: string }[] }).approvals;
  await expect.poll(waits, { timeout: 20_000 }).toMatchObject([{ id }]);
  return line.replace("APPROVAL_ID", id.slice(0, 8));
}

/** The id of a job. */
function withJob(line: string): string {
  if (!line.includes("JOB_ID")) return line;
  const added = place.cli("cron", "add", "--name", "example", "--every", "1h", "--message", "hello", "--no-deliver", "--json");
  return line.replace("JOB_ID", (JSON.parse(added.stdout) as { readonly id: string }).id);
}

/** A line of the help as the user would run it, with a real backup's name in place of the sketched one. */
function runnable(line: string): string {
  if (!line.includes("….tar.gz")) return line;
  expect(place.cli("backup", "create", "--output", place.home, "--json").code).toBe(0);
  const name = readdirSync(place.home).findLast((file) => file.endsWith(".tar.gz"));
  return line.replace(/openclaw-backup-….tar.gz/, name ?? "missing");
}

describe("every example of the help texts works as it stands there", () => {
  test("there are examples", () => expect(examples.length).toBeGreaterThan(15));

  function run(real: string): void {
    const { status, stderr } = spawnSync("sh", ["-c", real], { env, cwd: place.home, encoding: "utf8", timeout: 20_000 });
    expect(stderr).not.toContain("error:");
    expect(status, real).toBe(0);
  }

  test.each(
    examples
      .filter((line) => !ENDLESS.test(line) && !ASKING.test(line) && !IN_TERMINAL.test(line) && !WITH_CHANNEL.test(line) && !ABOUT_NODES.test(line))
      .sort(),
  )("%s", async (line) => {
    await prepare(line);
    run(runnable(line));
  });

  test.each(examples.filter((line) => ASKING.test(line) && ENDING.test(line)).sort())("%s (of a gateway of its own)", async (line) => {
    await prepare(line);
    await using gateway = await place.gateway();
    run(await withQuestion(await withDevices(line, gateway.url!)));
  });

  test("those that ask a gateway, one after the other", { timeout: 120_000 }, async () => {
    await prepare("");
    await using gateway = await place.gateway();
    for (const line of examples.filter((one) => ASKING.test(one) && !ENDING.test(one)).sort())
      run(withJob(await withQuestion(await withDevices(line, gateway.url!))));
  });

  test("those about nodes, with one in the kitchen", { timeout: 120_000 }, async () => {
    await prepare("");
    await using gateway = await place.gateway();
    const programs = join(place.home, "programs of the node");
    mkdirSync(programs);
    writeFileSync(join(programs, "notify-send"), "#!/bin/sh\n", { mode: 0o755 });
    const rules = { agents: { main: { allowlist: ["/bin/uname", "/usr/bin/uname"].map((pattern) => ({ pattern })) } } };
    await using host = startHost(gateway.url!, {
      name: "kitchen",
      token: TOKEN,
      rules,
      env: { DISPLAY: ":0", PATH: `${programs}${delimiter}${process.env["PATH"]}` },
    });
    await host.waitFor("connected");
    await using owner = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.admin", "operator.pairing"] });
    // The one that gives it another name comes last.
    const lines = examples.filter((one) => ABOUT_NODES.test(one)).sort((a, b) => Number(a.includes("rename")) - Number(b.includes("rename")));
    for (const line of lines) {
      const asked = line.includes("REQUEST_ID") && (await owner.request("node.pair.request", { nodeId: "garden", idempotencyKey: line })).payload;
      run(asked ? line.replace("REQUEST_ID", (asked["request"] as { readonly requestId: string }).requestId) : line);
    }
  });

  test.each(examples.filter((line) => ENDLESS.test(line)).sort())("%s (until Ctrl-C)", async (line) => {
    await prepare(line);
    const child = spawn("sh", ["-c", `exec ${line}`], { env, cwd: place.home, stdio: ["ignore", "pipe", "pipe"] });
    const exited = once(child, "close");
    await Promise.race([once(child.stdout, "data"), once(child.stderr, "data")]);
    child.kill("SIGINT");
    expect(await exited).toEqual([0, null]);
  });
});
