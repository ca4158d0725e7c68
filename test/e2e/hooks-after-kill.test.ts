/** What plugins decide about a message on its way to a turn holds when the process is killed in between. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 30_000, interval: 20 };

/** Changes and handles messages by their words; a poisoned one ends the process, wherever it is met. */
const CODE = `
export default function register(api) {
  const die = (text, hook) => { if (text?.includes("w-poison-" + hook)) process.kill(process.pid, "SIGKILL"); };
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
