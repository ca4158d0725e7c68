/** What plugins decide about a message on its way to a turn holds when the process is killed in between. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 12_000, interval: 20 };

/** Changes and handles messages by their words; a poisoned one ends the process, wherever it is met. */
const CODE = `
import { execFileSync } from "node:child_process";

export default function register(api) {
  const die = (text, hook) => { if (text?.includes("w-poison-" + hook)) execFileSync("kill", ["-9", String(process.pid)]); };
  api.on("message_received", ({ content }) => die(content, "received"));
  api.on("inbound_claim", ({ content }) => die(content, "claim"));
  api.on("before_dispatch", ({ content }) => {
    die(content, "dispatch");
    if (content.includes("w-before")) return { content: "say w-after" };
    if (content.includes("w-handled")) return { handled: true, text: "handled by the plugin" };
  });
}
`;

let telegram: FakeTelegram;
let gateway: LabGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hooks-after-kill-"));
  const plugin = join(folder, "rewriter");
  mkdirSync(plugin);
  writeFileSync(join(plugin, "openclaw.plugin.json"), JSON.stringify({ id: "rewriter", configSchema: { type: "object" } }));
  writeFileSync(join(plugin, "index.mjs"), CODE);
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: {
      channels: { telegram: own },
      session: { dmScope: "per-channel-peer" },
      plugins: {
        load: { paths: [plugin] },
        allow: ["rewriter", "telegram"],
        entries: { rewriter: { enabled: true, hooks: { allowConversationAccess: true } } },
      },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Lets the process die at a place while it treats a message, and starts it again. */
async function killedAt(failpoint: string, write: () => unknown): Promise<void> {
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
  write();
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
}

const heard = (word: string): number => telegram.messages(telegram.me.id).filter(({ byBot, text }) => byBot && text.includes(word)).length;

test.each(["inbox.committed", "turn.started"])("killed at %s, a message that a plugin rewrites is answered as it was rewritten, once", async (failpoint) => {
  const from = gateway.model.requests.length;
  const before = heard("w-after");
  await killedAt(failpoint, () => telegram.say("say w-before"));
  await expect.poll(() => heard("w-after"), PATIENCE).toBe(before + 1);
  expect(
    gateway.model.requests
      .slice(from)
      .map(({ user }) => user)
      .filter((user) => user.includes("w-before")),
  ).toEqual([]);
});

test("a message that the plugin answers itself is answered so after a kill", async () => {
  await killedAt("inbox.committed", () => telegram.say("w-handled"));
  await expect.poll(() => heard("handled by the plugin"), PATIENCE).toBe(1);
});

/** Starts it until the sender is notified, at most so often. Gives how often it died before. */
async function startUntil(isOver: () => boolean, most: number): Promise<number> {
  for (let died = 0; died < most; died += 1) {
    const process = await gateway.place.gateway({ build: "dist-test", env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
    let hasEnded = false;
    void process.exited.then(() => (hasEnded = true));
    await expect.poll(() => hasEnded || isOver(), PATIENCE).toBe(true);
    if (hasEnded) continue;
    process.child.kill("SIGTERM");
    await process.exited;
    return died;
  }
  return most;
}

test.each(["received", "claim", "dispatch"])(
  "a message on which a plugin ends the process in %s is given up after three more attempts, and others are answered",
  async (hook) => {
    const [poison, fine] = [`w-poison-${hook}`, `w-fine${hook}`];
    const before = heard("could not be handled");
    telegram.say(poison);
    expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
    // Waits on the platform, and is accepted beside the next attempt at the other.
    telegram.say(`say ${fine}`);
    expect(await startUntil(() => heard("could not be handled") > before && heard(fine) > 0, 6)).toBe(3);
    await gateway.start();
    expect([heard("could not be handled"), heard(fine)]).toEqual([before + 1, 1]);
    const { payload } = await gateway.operator.request("why", { what: "recent", last: 5 });
    const stories = payload!["stories"] as { about: { asked?: string }; verdict: { text: string; todo?: string } }[];
    const { verdict } = stories.find(({ about }) => about.asked === poison)!;
    expect(verdict.text).toContain("the gateway process exited each time a plugin handled it");
    expect(verdict.todo).toContain("openclaw plugins disable");
  },
  60_000,
);
