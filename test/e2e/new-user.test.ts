import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { freePort } from "../harness/free-port.ts";
import { ROOT } from "../harness/gateway-process.ts";
import { slowness } from "../harness/slowness.ts";

/** The commands of the README, line by line, as a reader would paste them. */
const COMMANDS = [...readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block!.trim().split("\n"));
const readmeCommand = (start: string): string => {
  const found = COMMANDS.find((line) => line.startsWith(start));
  if (found === undefined) throw new Error(`the README has no command that starts with ${start}`);
  return found;
};

/**
 * A bare clone of the repository with a home of its own. Everything that `npm start` does happens in it, the build too; only what `npm ci` would
 * download is there already, as hard links.
 */
function cloned() {
  const home = mkdtempSync(join(tmpdir(), "new-user-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const checkout = join(home, "openclaw");
  const run = (command: string, ...args: readonly string[]): void => {
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  };
  run("git", "clone", "--quiet", "--shared", ROOT, checkout);
  run("cp", "-al", realpathSync(join(ROOT, "node_modules")), join(checkout, "node_modules"));
  // What was compiled and bundled for this checkout is not that of the clone.
  rmSync(join(checkout, "node_modules", ".cache"), { recursive: true, force: true });
  const env = { PATH: process.env["PATH"], HOME: home, SHELL: "/bin/sh", NO_COLOR: "1", OPENCLAW_GATEWAY_PORT: "", OPENCLAW_TEST_TELEGRAM_API_ROOT: "" };
  return { home, checkout, env };
}

test("a new user who follows the README has an answer, a Telegram bot and a scheduled job", { timeout: 240_000 }, async (context) => {
  context.skip(spawnSync("git", ["rev-parse"], { cwd: ROOT }).status !== 0, "needs a git checkout");
  const started = performance.now();
  let slowest = slowness();
  /** On a busy machine the limit grows with how slow that was at its slowest. */
  const expectWithin = (limitMs: number, what: string): void => {
    slowest = Math.max(slowest, slowness());
    expect(performance.now() - started, what).toBeLessThan(limitMs * slowest);
  };
  const { checkout, env } = cloned();
  env.OPENCLAW_GATEWAY_PORT = String(await freePort());
  await using telegram = await startTelegram();
  env.OPENCLAW_TEST_TELEGRAM_API_ROOT = telegram.apiRoot;
  const type = (line: string): Promise<{ readonly code: number | null; readonly out: string }> => {
    const child = spawn("sh", ["-c", line], { cwd: checkout, env });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (out += String(chunk)));
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, out })));
  };

  expect(COMMANDS[0]).toBe("npm start");
  const gateway = spawn("sh", ["-c", COMMANDS[0]!], { cwd: checkout, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => gateway.once("close", resolve));
    // npm, the script that it runs, and the gateway.
    process.kill(-gateway.pid!, "SIGKILL");
    await ended;
  });
  await new Promise<void>((resolve, reject) => {
    let out = "";
    gateway.once("close", () => reject(new Error(`npm start ended: ${out}`)));
    for (const stream of [gateway.stdout, gateway.stderr]) stream.on("data", (chunk) => (/ready on/.test((out += String(chunk))) ? resolve() : undefined));
  });
  slowest = Math.max(slowest, slowness());

  const answer = await type(readmeCommand("bin/openclaw agent "));
  expect([answer.code, answer.out.trim().length > 0]).toEqual([0, true]);
  expectWithin(60_000, "the first answer took too long");

  const sent = async (words: RegExp): Promise<string> => {
    const textOf = ({ params }: { readonly params: Readonly<Record<string, unknown>> }): string => JSON.stringify(params["text"] ?? "");
    return textOf(await telegram.called("sendMessage", (call) => words.test(textOf(call))));
  };
  expect(await type(readmeCommand("bin/openclaw channels add").replace("<bot token>", telegram.token))).toMatchObject({ code: 0 });
  telegram.say("hello");
  const code = /\b[A-Z2-9]{8}\b/.exec(await sent(/\b[A-Z2-9]{8}\b/))![0];
  expect(await type(readmeCommand("bin/openclaw pairing approve").replace("<code>", code))).toMatchObject({ code: 0 });
  const before = telegram.calls("sendMessage").length;
  telegram.say("hello again");
  await telegram.called("sendMessage", (call) => telegram.calls("sendMessage").indexOf(call) >= before);
  expectWithin(180_000, "connecting Telegram took too long");

  const schedule = readmeCommand("bin/openclaw cron add");
  expect(await type(schedule)).toMatchObject({ code: 0 });
  expect((await type("bin/openclaw cron list")).out).toContain("Stand-up");
  // Nobody waits until nine: the same job, at a time that comes soon, runs and sends its answer to the chat.
  const sentBefore = telegram.calls("sendMessage").length;
  expect(await type(schedule.replace('"0 9 * * 1-5"', '"*/5 * * * * *"').replace("Stand-up", "Soon"))).toMatchObject({ code: 0 });
  await telegram.called("sendMessage", (call) => telegram.calls("sendMessage").indexOf(call) >= sentBefore);
  expectWithin(240_000, "the scheduled job took too long");
});
