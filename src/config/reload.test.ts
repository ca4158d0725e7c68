import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { silentLogger, type Logger } from "../base/log/logger.ts";
import { seededRandom } from "../base/random.ts";
import { loadLastGood } from "./last-good.ts";
import { loadConfig } from "./load.ts";
import { openConfig } from "./config.ts";
import { type ReloadAction } from "./reload-rules.ts";
import { createReload, type ReloadModule } from "./reload.ts";

async function setUp(text: string, modules: Record<string, ReloadModule> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "openclaw-reload-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const file = join(cwd, "openclaw.json");
  const put = (next: string): void => writeFileSync(file, next);
  put(text);
  const load = { env: { HOME: cwd, OPENCLAW_STATE_DIR: cwd, OPENCLAW_CONFIG_PATH: file }, osHome: cwd, cwd, version: "1.0.0" };
  const config = await openConfig({ ...load, purpose: "start", clock: manualClock(), ids: createIds(seededRandom(3)) });
  onTestFinished(() => config[Symbol.dispose]());
  await config.keepAsGood();
  const logged: string[] = [];
  const say = (message: string): void => void logged.push(message);
  const log: Logger = { ...silentLogger, debug: say, info: say, warn: say, error: say };
  const requested: string[] = [];
  const restarts = {
    request: ({ reason }: { reason: string }) => (requested.push(reason), { ok: true, delayMs: 0, reason, coalesced: false }),
  };
  const levels: unknown[] = [];
  const reload = createReload({ config, log, restarts, modules, onChange: ({ logging }) => levels.push(logging?.level) });
  onTestFinished(() => reload[Symbol.dispose]());
  const change = (next: string): void => {
    put(next);
    config.reload();
  };
  const lastGood = () => loadLastGood(load, loadConfig(load))?.snapshot.config;
  return { config, reload, change, logged, requested, levels, lastGood };
}

test("a module applies changes to its settings; changes for a module that is not running are only logged", async () => {
  const taken: ReloadAction[] = [];
  const { change, logged, requested } = await setUp("{}", { cron: (action) => void taken.push(action) });
  change("{ cron: { enabled: false }, browser: { enabled: false } }");
  await expect.poll(() => taken).toEqual([{ kind: "restart", module: "cron" }]);
  expect(logged).toContainEqual(expect.stringContaining('"browser" is not running yet'));
  expect(requested).toEqual([]);
});

test("a module that fails to apply a change keeps running, with a warning", async () => {
  const fail = (): never => {
    throw new Error("no");
  };
  const { change, logged } = await setUp("{}", { cron: fail });
  change("{ cron: { enabled: false } }");
  await expect.poll(() => logged.join("\n")).toContain('"cron" could not apply the changed configuration');
});

test("a change that needs a restart requests one and is not saved as last known good before it", async () => {
  const { change, requested, lastGood } = await setUp("{ ui: { seamColor: '#000001' } }");
  change("{ ui: { seamColor: '#000002' } }");
  await expect.poll(() => lastGood()?.ui?.seamColor).toBe("#000002");
  change("{ ui: { seamColor: '#000002' }, commands: { text: false } }");
  expect(requested).toEqual(["config change: commands.text"]);
  change("{ ui: { seamColor: '#000003' }, commands: { text: false } }");
  // Long enough for a save that would have happened.
  await new Promise(setImmediate);
  expect(lastGood()).toMatchObject({ ui: { seamColor: "#000002" } });
  expect(lastGood()).not.toMatchObject({ commands: { text: false } });
});

test("a change followed by a restart does not request another", async () => {
  const { config, requested, levels } = await setUp("{}");
  const edit = { kind: "patch", value: { commands: { text: false }, logging: { level: "warn" } } } as const;
  await config.edit(edit, { by: "test", restartFollows: true });
  expect([requested, levels]).toEqual([[], ["warn"]]);
  await config.edit({ kind: "patch", value: { commands: { text: true } } }, { by: "test" });
  expect(requested).toHaveLength(1);
});

test("with reload off, a change is logged, has no effect and is not saved as last known good", async () => {
  const { config, change, requested, levels, logged, lastGood } = await setUp("{ gateway: { reload: { mode: 'off' } } }");
  change("{ gateway: { reload: { mode: 'off' } }, logging: { level: 'debug' }, commands: { text: false } }");
  expect([requested, levels]).toEqual([[], [undefined]]);
  expect(logged).toContainEqual("config reload is off; ignoring (commands.text, logging)");
  expect(config.current.logging?.level).toBeUndefined();
  await new Promise(setImmediate);
  expect(lastGood()?.logging).toBeUndefined();
});

test("an invalid file is a problem until it is fixed or restored", async () => {
  const { reload, change } = await setUp("{ logging: { level: 'info' } }");
  change("{ broken");
  expect(reload.broken).toContain("is invalid; the previous configuration stays in use");
  change("{ logging: { level: 'info' } }");
  expect(reload.broken).toBeUndefined();
  change("{ broken");
  change("{ logging: { level: 'warn' } }");
  expect(reload.broken).toBeUndefined();
});
