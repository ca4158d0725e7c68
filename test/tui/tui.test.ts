import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startModelServer, STREAMS, type ModelServer, type ScriptedAnswer } from "../fakes/model-server/index.ts";
import { visit } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { programArguments, runCommand, type Build } from "../harness/program.ts";
import { openPseudoTerminal, type PseudoTerminal } from "../harness/pseudo-terminal.ts";

/** The terminal interface as a person has it: a real terminal, a real gateway, a scripted model. */
const BUILD: Build = (process.env["OPENCLAW_TEST_BUILD"] as Build | undefined) ?? "dist";
const TOKEN = "token-of-this-test-0123456789";
const API = "openai-completions";
const ENTER = "\r";
const ESCAPE = "\u001b";
const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96);

let server: ModelServer;
let place: Place;
let gateway: GatewayProcess;
let open: AsyncDisposableStack;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  server = open.use(await startModelServer());
  place = makePlace();
  open.defer(() => rmSync(place.home, { recursive: true, force: true }));
  const models = ["large", "small"].map((id) => ({ id, name: id, contextWindow: 100_000, maxTokens: 1000, input: ["text"], reasoning: false }));
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { model: { primary: "acme/large" }, workspace: join(place.home, "workspace") } },
      models: { providers: { acme: { baseUrl: server.url, apiKey: "sk-example-0123456789abcdef", api: API, models } } },
    }),
  );
  gateway = await startGateway();
});
afterEach(() => open.disposeAsync());

async function startGateway(): Promise<GatewayProcess> {
  const started = open.use(await place.gateway({ build: BUILD }));
  if (started.url === undefined) throw new Error(started.output());
  return started;
}

async function start(...args: readonly string[]): Promise<PseudoTerminal> {
  const line = [process.execPath, ...programArguments(BUILD), "tui", ...args];
  const terminal = open.use(await openPseudoTerminal({ line, env: place.env, cwd: place.home }));
  await terminal.waitFor(/^ready/m);
  return terminal;
}

const frames = (answer: ScriptedAnswer): readonly string[] => STREAMS[API]!(answer);
const says = (...answers: readonly ScriptedAnswer[]): void => server.play(...answers.map((answer) => ({ kind: "stream" as const, frames: frames(answer) })));
const count = (screen: string, words: string): number => screen.split(words).length - 1;
/** An answer up to where it goes on. Its last character must not be one that a secret can begin with: that one is held back until more comes. */
const half = (...words: readonly string[]): readonly string[] => frames({ text: words }).slice(0, 1 + words.length);

test("an answer is shown while it is written, as Markdown, and once", async () => {
  const terminal = await start();
  server.play({
    kind: "stream",
    frames: frames({ text: ["# The plan\n\n", "First **this**,\n", "then\n\n```sh\nls -la\n```\n", "- done", " and done."] }),
    gapMs: 250,
  });
  terminal.send(`what is the plan?${ENTER}`);
  await terminal.waitFor((screen) => screen.includes("First this,") && !screen.includes("and done."));
  await terminal.waitFor(/• done and done\.[\s\S]*^ready/m);
  const screen = terminal.screen();
  expect([count(screen, "what is the plan?"), count(screen, "The plan"), count(screen, "│ ls -la")]).toEqual([1, 1, 1]);
  expect(screen).toContain("acme/large");
});

test("a tool call waits for the word of who sits there, who sees what will run", async () => {
  const terminal = await start();
  says({ toolCalls: [{ id: "call_1", name: "exec", arguments: ['{"command":"echo hello from the tool"}'] }] }, { text: ["I have asked."] });
  terminal.send(`please run it${ENTER}`);
  await terminal.waitFor("Approve this command?");
  await terminal.waitFor(/exec echo hello from the tool[\s\S]*│ echo hello from the tool/);
  expect(terminal.screen()).toContain("1 pending approval (Tab)");
  terminal.send("\t");
  await terminal.waitFor("›[y] allow once‹");
  terminal.send("y");
  await terminal.waitFor("allowed once: echo hello from the tool");
  await terminal.waitFor((screen) => !screen.includes("Approve this command?"));
});

test("a tool shows what it was given and what it gave, folded and whole", async () => {
  mkdirSync(join(place.home, "workspace"), { recursive: true });
  writeFileSync(join(place.home, "workspace", "note.txt"), "one\ntwo\nthree\nfour\nfive\nsix");
  const terminal = await start();
  says({ toolCalls: [{ id: "call_1", name: "read", arguments: ['{"path":"note.txt"}'] }] }, { text: ["Six lines."] });
  terminal.send(`read the note${ENTER}`);
  await terminal.waitFor(
    /✓ read note\.txt(?: {2}[^\n]+)?\n {2}│ one\n {2}│ two\n {2}│ three\n {2}│ … 3 more lines \(Ctrl\+O\)[\s\S]*Six lines\.[\s\S]*^ready/m,
  );
  terminal.send(ctrl("o"));
  await terminal.waitFor(/✓ read note\.txt(?: {2}[^\n]+)?\n {2}│ path: note\.txt[\s\S]*│ six/);
});

test("models and sessions are chosen from lists", async () => {
  const terminal = await start("--session", "work");
  says({ text: ["Hello from work."] });
  terminal.send(`hello${ENTER}`);
  await terminal.waitFor(/Hello from work\.[\s\S]*^ready/m);
  terminal.send(ctrl("l"));
  await terminal.waitFor("acme/small");
  terminal.send("acme small");
  await terminal.waitFor(/1 of \d+/);
  terminal.send(ENTER);
  await terminal.waitFor("model: acme/small");
  terminal.send(`/session main${ENTER}`);
  await terminal.waitFor(/session main[^\n]*\n(?:(?!Hello from work)[\s\S])*$/);
  terminal.send(ctrl("p"));
  await terminal.waitFor(/› work|  work/);
  terminal.send(`work`);
  await terminal.waitFor(/› work /);
  terminal.send(ENTER);
  await terminal.waitFor("Hello from work.");
});

test("every session can be found, also those that are not on the first page of the list", async () => {
  await using client = await visit(gateway.url!, { token: TOKEN, scopes: ["operator.admin"] });
  await client.ask("sessions.patch", { key: "agent:main:oldest", label: "The needle" });
  for (let at = 0; at < 210; at += 1) await client.ask("sessions.patch", { key: `agent:main:hay-${at}`, label: `Hay ${at}` });
  const terminal = await start();
  terminal.send(ctrl("p"));
  await terminal.waitFor(/sessions 200 of 211/);
  expect(terminal.screen()).not.toContain("needle");
  terminal.send("needle");
  await terminal.waitFor(/sessions 1 of 1 [\s\S]*› oldest .*The needle/);
  terminal.send(ENTER);
  await terminal.waitFor(/oldest/);
});

test("models that can answer stand first, the others have no key; tables are columns", async () => {
  const terminal = await start();
  terminal.send(ctrl("l"));
  await terminal.waitFor(/acme\/small/);
  terminal.send("gpt-5.2");
  await terminal.waitFor(/openai\/gpt-5\.2 .*no key/);
  terminal.send(ESCAPE);
  await terminal.waitFor((screen) => !screen.includes("filter: gpt"));
  terminal.send(ESCAPE);
  await terminal.waitFor((screen) => !screen.includes("type to filter"));
  says({ text: ["| name | n |\n|---|--:|\n| 漢字 | 1 |\n| b | 22 |\n"] });
  terminal.send(`a table${ENTER}`);
  await terminal.waitFor(/name │ +n\n.*─────┼───\n.*漢字 │ +1\n.*b    │ 22/);
});

test("Escape stops a run", async () => {
  const terminal = await start();
  server.play({ kind: "stall", after: half("This goes ", "on and ") });
  terminal.send(`talk${ENTER}`);
  await terminal.waitFor("This goes on and");
  await terminal.waitFor("Esc stops");
  terminal.send(ESCAPE);
  await terminal.waitFor(/\(stopped\)[\s\S]*^ready/m);
  expect(count(terminal.screen(), "This goes on and")).toBe(1);
});

test.each([
  ["in pages", []],
  // More than a page holds.
  ["whole", ["--history-limit", "500"]],
])("a gateway that is killed and started again in the middle of a turn costs nothing (history %s)", async (_how, args) => {
  const terminal = await start(...args);
  server.play({ kind: "stall", after: half("The first half …") });
  terminal.send(`tell me everything${ENTER}`);
  await terminal.waitFor("The first half");
  says({ text: ["The whole answer."] });
  gateway.child.kill("SIGKILL");
  await gateway.exited;
  await terminal.waitFor("Disconnected");
  terminal.send(`and this meanwhile${ENTER}`);
  await terminal.waitFor("and this meanwhile");
  gateway = await startGateway();
  await terminal.waitFor(/tell me everything[\s\S]*The whole answer\.[\s\S]*^ready/m);
  await terminal.waitFor((screen) => /and this meanwhile[\s\S]*The whole answer\.[\s\S]*^ready/m.test(screen) && !screen.includes("sending"));
  const screen = terminal.screen();
  expect([count(screen, "tell me everything"), count(screen, "and this meanwhile"), count(screen, "The first half")]).toEqual([1, 1, 0]);
});

test("a terminal that changes its size is redrawn", async () => {
  const terminal = await start();
  says({ text: ["A sentence that is long enough to need two lines on a narrow terminal."] });
  terminal.send(`hello${ENTER}`);
  await terminal.waitFor(/narrow terminal\.[\s\S]*^ready/m);
  terminal.resize(44, 16);
  await terminal.waitFor(/long enough to need two\n[\s\S]*lines on a narrow terminal\./);
  expect(terminal.screen().split("\n").at(-1)).toContain("connected");
});

test("what a model writes cannot control the terminal", async () => {
  const terminal = await start();
  says({ text: ["before \u001b]0;owned\u0007\u001b[2J\u001b[?1049l\u001b[31mred\u009b2J after"] });
  terminal.send(`hello${ENTER}`);
  await terminal.waitFor("before red after");
  expect(terminal.titles).toEqual([]);
  expect(terminal.modes().alternate).toBe(true);
});

test("pastes, wide characters and several lines arrive as they were written", async () => {
  const terminal = await start();
  says({ text: ["Read."] });
  terminal.send("\u001b[200~first line\nsecond 漢字 🦞\u001b[201~");
  await terminal.waitFor(/› first line\n {2}second 漢字 🦞/);
  terminal.send(ENTER);
  await terminal.waitFor(/Read\.[\s\S]*^ready/m);
  expect(server.requests.at(-1)!.body).toContain("first line\\nsecond 漢字 🦞");
});

test("a command for this machine runs after one question", async () => {
  const terminal = await start();
  terminal.send(`!echo "sum $((40 + 2))"${ENTER}`);
  await terminal.waitFor("Run this command on this machine?");
  terminal.send(`j${ENTER}`);
  await terminal.waitFor("sum 42");
});

describe("the terminal is given back as it was", () => {
  const restored = { alternate: false, paste: false, wraps: true, mouse: "none" };

  async function ends(terminal: PseudoTerminal, code: number): Promise<void> {
    await terminal.exited;
    await terminal.waitFor(new RegExp(`^before\\n(?:.*\\n)*?exit=${code} icanon$`, "m"));
    expect(terminal.modes()).toEqual(restored);
    expect(terminal.screen()).not.toContain("ready");
  }

  test("after Ctrl+D", async () => {
    const terminal = await start();
    expect(terminal.modes()).toMatchObject({ alternate: true, paste: true, wraps: false });
    terminal.send(ctrl("d"));
    await ends(terminal, 0);
  });

  test("after Ctrl+C twice", async () => {
    const terminal = await start();
    terminal.send(ctrl("c"));
    await terminal.waitFor("Press Ctrl+C again to exit");
    terminal.send(ctrl("c"));
    await ends(terminal, 0);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("after %s", async (signal, code) => {
    const terminal = await start();
    process.kill(terminal.pid(), signal);
    await ends(terminal, code);
  });

  test("when there is no gateway, and it says so", async () => {
    gateway.child.kill("SIGKILL");
    await gateway.exited;
    const line = [process.execPath, ...programArguments(BUILD), "tui"];
    await using terminal = await openPseudoTerminal({ line, env: place.env, cwd: place.home });
    await terminal.exited;
    await terminal.waitFor(/the gateway cannot be reached[\s\S]*exit=1 icanon/);
    expect(terminal.modes()).toEqual(restored);
  });
});

test("without a terminal it says so and draws nothing", () => {
  const { code, stdout, stderr } = runCommand(place, ["tui"], { build: BUILD });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("needs a terminal");
});
