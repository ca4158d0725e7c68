import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findHooks, type FindHooksDeps, type FoundHooks } from "./find-hooks.ts";
import { whyNot } from "./hook.ts";

let home: string;
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "openclaw-hooks-"))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}
function hook(folder: string, front = 'metadata: {"openclaw":{"events":["command:new"]}}', handler: string | undefined = "handler.js"): void {
  write(`${folder}/HOOK.md`, `---\ndescription: in ${folder}\n${front}\n---\n`);
  if (handler !== undefined) write(`${folder}/${handler}`, "export default () => {};\n");
}
const find = (over: Partial<FindHooksDeps> = {}): Promise<FoundHooks> =>
  findHooks({
    config: {},
    env: {},
    platform: "linux",
    stateDir: join(home, "state"),
    workspaceDir: join(home, "ws"),
    home,
    configDir: join(home, "conf"),
    ...over,
  });
const named = async (name: string, over: Partial<FindHooksDeps> = {}) => (await find(over)).hooks.find((one) => one.name === name);
const withExtra = (...extraDirs: string[]) => ({ config: { hooks: { internal: { load: { extraDirs } } } } });

test("without a folder there are the four hooks of the program, and all can be used", async () => {
  const { hooks, problems } = await find();
  expect(hooks.map(({ name, eligible, source }) => [name, eligible, source])).toEqual(
    ["boot-md", "bootstrap-extra-files", "command-logger", "session-memory"].map((name) => [name, true, "openclaw-bundled"]),
  );
  expect(problems).toEqual([]);
});

test("of hooks with the same name the workspace's counts, then the user's, the bundled folder's and those of extraDirs", async () => {
  const folders = ["ws/hooks/x", "state/hooks/x", "bundled/x", "conf/more/x"];
  const deps = { ...withExtra("more"), env: { OPENCLAW_BUNDLED_HOOKS_DIR: join(home, "bundled") } };
  for (const folder of folders) hook(folder);
  for (const folder of folders) {
    expect((await named("x", deps))?.description).toBe(`in ${folder}`);
    rmSync(join(home, folder), { recursive: true });
  }
  expect(await named("x", deps)).toBeUndefined();
});

test("a user's hook replaces one of the program, one in extraDirs does not", async () => {
  hook("more/boot-md");
  expect((await named("boot-md", withExtra("~/more")))?.files).toBeUndefined();
  hook("state/hooks/boot-md");
  expect((await named("boot-md", withExtra("~/more")))?.description).toBe("in state/hooks/boot-md");
});

test("a folder in extraDirs may be a hook, or a package of hooks", async () => {
  hook("one");
  hook("pack/hooks/a");
  hook("pack/hooks/b", 'name: bee\nmetadata: {"openclaw":{"events":"command, message:sent","hookKey":"wasp","export":"run"}}', "index.ts");
  write("pack/package.json", JSON.stringify({ openclaw: { hooks: ["hooks/a", "./hooks/b"] } }));
  const { hooks } = await find(withExtra(join(home, "one"), join(home, "pack")));
  expect(hooks.filter(({ source }) => source === "openclaw-extra").map(({ name }) => name)).toEqual(["a", "bee", "one"]);
  expect(hooks.find(({ name }) => name === "bee")).toMatchObject({ key: "wasp", events: ["command", "message:sent"], exportName: "run" });
});

test("what leads out of a package or a hook's folder is left out, and said", async () => {
  hook("outside");
  write("state/hooks/pack/package.json", JSON.stringify({ openclaw: { hooks: ["../../../outside", "nowhere"] } }));
  hook("state/hooks/linked", undefined, "other.js");
  symlinkSync(join(home, "outside/handler.js"), join(home, "state/hooks/linked/handler.js"));
  hook("state/hooks/open");
  chmodSync(join(home, "state/hooks/open/handler.js"), 0o666);
  write("state/hooks/torn/package.json", "{");
  write("state/hooks/plain/HOOK.md", "no front matter");
  write("state/hooks/transforms/x.js", "");
  const { hooks, problems } = await find();
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringContaining("outside the hook's folder"),
    expect.stringContaining("chmod o-w"),
    expect.stringContaining("outside the package"),
    expect.stringContaining("does not exist"),
    expect.stringContaining("no front matter"),
    expect.stringContaining("not valid JSON"),
  ]);
  expect(hooks.filter(({ source }) => source === "openclaw-managed").map((one) => [one.name, one.eligible, whyNot(one)])).toEqual([
    ["linked", false, expect.stringContaining("no handler")],
    ["open", false, expect.stringContaining("no handler")],
  ]);
});

test("the first of handler.ts, handler.js, index.ts and index.js is the handler", async () => {
  hook("ws/hooks/x", undefined, "index.js");
  for (const handler of ["index.js", "index.ts", "handler.js", "handler.ts"]) {
    write(`ws/hooks/x/${handler}`, "export default () => {};\n");
    expect((await named("x"))?.files?.handlerPath?.endsWith(`ws/hooks/x/${handler}`)).toBe(true);
  }
});

test("a name with control characters, or a folder of a thousand files, is bounded", async () => {
  hook("state/hooks/odd", 'name: "a\\u0007b"\nmetadata: {"openclaw":{"events":["command"]}}');
  for (let count = 0; count < 400; count += 1) write(`ws/hooks/${String(count).padStart(3, "0")}`, "");
  const { problems } = await find();
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("control characters"), expect.stringContaining("only the first 300")]);
});
