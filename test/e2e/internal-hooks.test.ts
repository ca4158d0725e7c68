/** Hooks from files in a real gateway: where they are found, which are loaded, and what the bundled ones do. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const ENABLED = { internal: { enabled: true } };

let gateway: LabGateway;
beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test" });
  await gateway.stop();
});
afterAll(async () => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));
afterEach(async () => {
  if (gateway.isRunning()) await gateway.stop();
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const inWorkspace = (path: string): string => join(gateway.workspace, path);
const inState = (path: string): string => join(gateway.place.stateDir, path);
const inHome = (path: string): string => join(gateway.place.home, path);
const text = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** A hook whose handler writes `word` and the event to a file, as a line of JSON. */
function hook(folder: string, word: string, front: string, handler = "handler.ts"): string {
  const out = inHome(`${word}.jsonl`);
  write(join(folder, "HOOK.md"), `---\nname: ${word.split("-")[0]}\ndescription: Notes events\nmetadata: ${front}\n---\n# Notes\n`);
  const code = `import { appendFileSync } from "node:fs";
enum Kind { Word = ${JSON.stringify(word)} }
export default function handler(event: { type: string; action: string; context: Record<string, unknown>; messages: string[] }): void {
  const { type, action, context, messages } = event;
  messages.push(\`said by \${Kind.Word}\`, "and more");
  appendFileSync(${JSON.stringify(out)}, JSON.stringify({ word: Kind.Word, event: \`\${type}:\${action}\`, keys: Object.keys(context).sort(), context: { ...context, cfg: undefined } }) + "\\n");
}
`;
  write(join(folder, handler), code);
  return out;
}
const events = (path: string): readonly Readonly<Record<string, unknown>>[] =>
  text(path)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

let sent = 0;
async function say(message: string, sessionKey = "agent:main:main"): Promise<void> {
  const idempotencyKey = `say-${(sent += 1)}-${process.pid}`;
  expect(await gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey })).toMatchObject({ ok: true });
  // A stop is no run: it is carried out at once.
  if (message === "/stop") return;
  expect(await gateway.operator.request("agent.wait", { runId: idempotencyKey, timeoutMs: 20_000 })).toMatchObject({ ok: true });
}

test("a workspace's hook wins over the user's and over one in extraDirs; each event has its context", async () => {
  const events3 = '{"openclaw":{"events":["command","gateway:startup"]}}';
  const outs = [
    hook(inHome("more/notes"), "notes-extra", events3),
    hook(inState("hooks/notes"), "notes-user", events3),
    hook(inWorkspace("hooks/notes"), "notes-workspace", events3),
  ];
  const user = hook(inState("hooks/mine"), "mine-user", '{"openclaw":{"events":["command:stop"]}}');
  const extra = hook(inHome("more/third"), "third-extra", '{"openclaw":{"events":["command:reset"]}}', "index.ts");
  gateway.configure({ hooks: { internal: { enabled: true, load: { extraDirs: ["~/more"] } } } });
  await gateway.start();
  const [first = "", second = "", third = ""] = outs;
  await expect.poll(() => events(third).map(({ event }) => event), PATIENCE).toEqual(["gateway:startup"]);
  expect(events(third)[0]).toMatchObject({ keys: ["cfg", "deps", "port", "workspaceDir"], context: { workspaceDir: gateway.workspace } });
  await say("say w-one");
  await say("/new");
  await say("/stop");
  await expect.poll(() => events(user).length, PATIENCE).toBe(1);
  const { payload } = await gateway.operator.request("chat.history", { sessionKey: "main" });
  expect(JSON.stringify(payload)).not.toContain("said by mine-user");
  await say("/reset");
  await gateway.operator.request("sessions.reset", { key: "main", reason: "new" });
  await expect
    .poll(() => events(third).map(({ event }) => event), PATIENCE)
    .toEqual(["gateway:startup", "command:new", "command:stop", "command:reset", "command:new"]);
  expect(events(third)[1]).toMatchObject({
    keys: ["cfg", "commandSource", "previousSessionEntry", "senderId", "sessionEntry", "sessionId"],
    context: { commandSource: "webchat", sessionEntry: { sessionId: expect.any(String) } },
  });
  expect(events(third)[4]).toMatchObject({ context: { commandSource: "gateway:sessions.reset", previousSessionEntry: { sessionId: expect.any(String) } } });
  expect([events(first), events(second)]).toEqual([[], []]);
  expect([events(user).map(({ event }) => event), events(extra).map(({ event }) => event)]).toEqual([["command:stop"], ["command:reset"]]);
  expect(gateway.output()).toContain("Registered hook: notes -> command, gateway:startup");
});

test("a hook is loaded only where its gates let it, and a broken one harms nothing", async () => {
  const gated = (name: string, gates: string): string => hook(inState(`hooks/${name}`), `${name}-gate`, `{"openclaw":{"events":["command:stop"],${gates}}}`);
  const loaded = [
    gated("env", '"requires":{"env":["HOOK_TEST_TOKEN"]}'),
    gated("bins", '"requires":{"bins":["sh"],"anyBins":["no-such-program","sh"]}'),
    gated("config", '"requires":{"config":["workspace.dir","agents.defaults.workspace"]}'),
    gated("always", '"always":true,"requires":{"bins":["no-such-program"]}'),
    gated("os", `"os":["${process.platform}"]`),
  ];
  const left = [
    gated("env2", '"requires":{"env":["HOOK_TEST_OTHER"]}'),
    gated("bins2", '"requires":{"bins":["no-such-program"]}'),
    gated("config2", '"requires":{"config":["channels.telegram"]}'),
    gated("os2", '"os":["plan9"],"always":true'),
    gated("off", '"requires":{}'),
  ];
  write(inState("hooks/throws/HOOK.md"), '---\nname: throws\nmetadata: {"openclaw":{"events":["command"]}}\n---\n');
  write(inState("hooks/throws/handler.js"), "\nthrow new Error('not today');\n");
  write(inState("hooks/wrong/HOOK.md"), '---\nname: wrong\nmetadata: {"openclaw":{"events":["command"],"export":"run"}}\n---\n');
  write(inState("hooks/wrong/handler.js"), "export const walk = () => {};\n");
  write(inState("hooks/mute/HOOK.md"), "---\nname: mute\n---\n");
  write(inState("hooks/mute/handler.js"), "export default () => {};\n");
  write(inState("hooks/late/HOOK.md"), '---\nname: late\nmetadata: {"openclaw":{"events":["command:stop"]}}\n---\n');
  write(inState("hooks/late/handler.js"), "export default () => { setTimeout(() => { throw new Error('too late'); }); throw new Error('at once'); };\n");
  write(
    inWorkspace("old/log.ts"),
    `import { writeFileSync } from "node:fs";\nexport const note = (event: { action: string }): void => writeFileSync(${JSON.stringify(inHome("old.txt"))}, event.action);\n`,
  );
  write(inHome("outside.js"), "export default () => {};\n");
  symlinkSync(inHome("outside.js"), inWorkspace("old/link.js"));
  gateway.configure({
    hooks: {
      internal: {
        enabled: true,
        entries: { env: { env: { HOOK_TEST_TOKEN: "x" } }, off: { enabled: false }, "command-logger": { enabled: false } },
        handlers: [
          { event: "command:stop", module: "old/log.ts", export: "note" },
          { event: "command:stop", module: "old/link.js" },
        ],
      },
    },
  });
  const logged = text(inState("logs/commands.log"));
  await gateway.start();
  await say("/stop");
  await expect.poll(() => text(inHome("old.txt")), PATIENCE).toBe("stop");
  for (const path of loaded) expect(events(path), path).toHaveLength(1);
  for (const path of left) expect(events(path), path).toHaveLength(0);
  const output = gateway.output();
  expect(output).toMatch(/hook "throws" could not be loaded: not today \(\S*handler\.js:2\)/);
  expect(output).toContain('the hook wrong could not be loaded: expected a function as its export "run", found walk');
  expect(output).toContain("the hook mute is not loaded: it has no events");
  expect(output).toMatch(/handlers\[1\] \(old\/link\.js\) could not be loaded: \S+ is outside the workspace/);
  await expect.poll(() => gateway.output(), PATIENCE).toContain("an uncaught exception: too late");
  expect(gateway.output()).toContain("the hook late failed: at once");
  expect(text(inState("logs/commands.log"))).toBe(logged);
  await say("say w-alive");
});

test("without hooks.internal.enabled no hook is looked at", async () => {
  const out = hook(inWorkspace("hooks/quiet"), "quiet-one", '{"openclaw":{"events":["command","gateway:startup"]}}');
  gateway.configure({ hooks: {} });
  await gateway.start();
  await say("/reset");
  expect(events(out)).toEqual([]);
});

test("/new saves the conversation, named by the model, and every command is logged", async () => {
  gateway.configure({ hooks: ENABLED });
  gateway.model.answers(({ body }) => (body.includes("You name files") ? "`Apple Talk`" : undefined));
  await gateway.start();
  const folder = inWorkspace("memory");
  const files = (): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);
  const before = files();
  // Only the agent has spoken: there is nothing to save.
  await say("/new", "agent:main:quiet");
  await say("/new", "agent:main:quiet");
  expect(files()).toEqual(before);
  await say("say w-apple");
  await say("/new");
  const date = new Date().toISOString().slice(0, 10);
  await expect.poll(() => (existsSync(folder) ? readdirSync(folder).filter((name) => name.includes("apple")) : []), PATIENCE).toHaveLength(1);
  const [name = ""] = readdirSync(folder).filter((one) => one.includes("apple"));
  expect(name).toMatch(/^\d{4}-\d\d-\d\d-apple-talk\.md$/);
  const saved = text(join(folder, name));
  expect(saved).toMatch(
    /^# Session: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n\n- \*\*Session Key\*\*: agent:main:main\n- \*\*Session ID\*\*: \S+\n- \*\*Source\*\*: webchat\n\n## Conversation Summary\n\n/,
  );
  expect(saved).toContain("user: say w-apple\nassistant: Heard w-apple.\n");
  expect(saved).not.toContain("/new");
  expect(saved).not.toContain("A new conversation has just begun");
  expect(name >= date || name.startsWith(date.slice(0, 8))).toBe(true);
  gateway.model.answers(({ body }) => (body.includes("You name files") ? "…" : undefined));
  await say("say w-pear");
  await say("/new");
  await expect
    .poll(() => readdirSync(folder).some((one) => /-\d{4}(?:-\d+)?\.md$/.test(one) && text(join(folder, one)).includes("w-pear")), PATIENCE)
    .toBe(true);
  const log = events(inState("logs/commands.log"));
  expect(log.slice(-2)).toMatchObject([
    { action: "new", sessionKey: "agent:main:main", source: "webchat", timestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
    { action: "new" },
  ]);
});

test("more files reach the prompt: only those with known names, below the workspace", async () => {
  write(inWorkspace("packages/a/AGENTS.md"), "Rules of w-packagea");
  write(inWorkspace("packages/b/TOOLS.md"), "Tools of w-packageb");
  write(inWorkspace("packages/b/README.md"), "Not w-readme");
  write(inHome("AGENTS.md"), "Not w-outside");
  gateway.configure({ hooks: { internal: { enabled: true, entries: { "bootstrap-extra-files": { paths: ["packages/*/*.md", "../AGENTS.md"] } } } } });
  await gateway.start();
  await say("say w-extra", "agent:main:extra");
  const body = gateway.model.requests.findLast(({ user }) => user.includes("w-extra"))?.body ?? "";
  expect([body.includes("w-packagea"), body.includes("w-packageb"), body.includes("w-readme"), body.includes("w-outside")]).toEqual([true, true, false, false]);
  expect(gateway.output()).toContain('the pattern "../AGENTS.md" is ignored');
});

test("what a running gateway could not load is named by hooks list and hooks check", async () => {
  const front = (events: string): string => `---\nname: NAME\nmetadata: {"openclaw":{"events":["${events}"]}}\n---\n`;
  const broken = (name: string, code: string, events = "command:new"): void => {
    write(inState(`hooks/${name}/HOOK.md`), front(events).replace("NAME", name));
    write(inState(`hooks/${name}/handler.ts`), code);
  };
  broken("badsyntax", "export default (");
  broken("badexport", "export const other = 1;");
  broken("badevent", "export default () => {};", "command:neww");
  broken("goodone", "export default () => {};");
  write(inState("hooks/badyaml/HOOK.md"), "---\nname: [broken\n---\n");
  write(inState("hooks/badyaml/handler.ts"), "export default () => {};");
  gateway.configure({ hooks: { internal: { enabled: true, handlers: [{ event: "command:new", module: "no-such-file.ts" }] } } });
  await gateway.start();
  const { output: listed } = await gateway.cli("hooks", "list");
  expect(listed).toMatch(/^badsyntax +error/m);
  expect(listed).toMatch(/^badexport +error/m);
  expect(listed).toMatch(/^badevent +not ready/m);
  expect(listed).toMatch(/^goodone +on /m);
  const { output: checked, code } = await gateway.cli("hooks", "check");
  expect(code).toBe(1);
  expect(checked).toContain('expected a function as its export "default", found other');
  expect(checked).toMatch(/problem .*badsyntax/);
  expect(checked).toContain("there is no event command:neww");
  expect(checked).toMatch(/problem hooks\.internal\.handlers\[0\] \(no-such-file\.ts\): .* does not exist/);
  expect(checked).toMatch(/badyaml\/HOOK\.md: the front matter cannot be read: line 2/);
  await gateway.stop();
  expect((await gateway.cli("hooks", "list")).output).toMatch(/^goodone +not checked/m);
  for (const name of ["badsyntax", "badexport", "badevent", "goodone", "badyaml"]) rmSync(inState(`hooks/${name}`), { recursive: true });
});

test("replaced code of a hook is said to need a restart, and a hook of this program that it replaces is named", async () => {
  write(inHome("again/HOOK.md"), '---\nname: boot-md\nmetadata: {"openclaw":{"events":["command:new"]}}\n---\n');
  write(inHome("again/handler.ts"), "export default () => {};");
  gateway.configure({ hooks: ENABLED });
  const first = await gateway.cli("hooks", "install", "./again");
  expect(first.output).toContain("boot-md: replaces the bundled hook with the same name");
  await gateway.start();
  const second = await gateway.cli("hooks", "install", "./again", "--force");
  expect(second).toMatchObject({ code: 0, output: expect.stringContaining("still runs the old code; load the new code with: ") });
  expect(second.output).not.toContain("without a restart");
  await gateway.stop();
  rmSync(inState("hooks/boot-md"), { recursive: true });
  expect((await gateway.cli("hooks", "install", "./again/HOOK.md")).output).toContain("HOOK.md cannot be installed: expected a folder");
});
