/** What an owner is asked about a node in a chat: only what can succeed, and only where someone can answer. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { startHost, type HostProcess } from "./host-process.ts";

/** Much shorter than a question waits. */
const PATIENCE = { timeout: 20_000, interval: 20 };

const TOKEN = "token-of-the-lab-0123456789abcdef";

let telegram: FakeTelegram;
let gateway: LabGateway;
let host: HostProcess;
let shared: string;
beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const allowFrom = [String(telegram.me.id)];
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom };
  gateway = await startLabGateway({
    sections: {
      channels: { telegram: own },
      commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] },
      gateway: { mode: "local", auth: { mode: "token", token: TOKEN }, nodes: { allowCommands: ["file.read", "file.write"] } },
    },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  const place = makePlace();
  shared = join(place.home, "shared");
  mkdirSync(shared);
  writeFileSync(join(shared, "note.txt"), "hello");
  place.configure(JSON.stringify({ nodeHost: { files: { folders: [shared] } } }));
  host = startHost(gateway.url, { place, name: "Shed", token: TOKEN });
  await host.waitFor("connected to");
  // From here on nobody is there who decides, but in the test that has its own.
  await gateway.operator[Symbol.asyncDispose]();
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});

const texts = (): string =>
  telegram
    .messages(telegram.me.id)
    .map(({ text }) => text)
    .join("\n");
const lastResult = ({ body }: ModelRequest): string | undefined => {
  const last = (JSON.parse(body) as { messages: readonly { role: string; content: string }[] }).messages.at(-1);
  return last?.role === "tool" ? last.content : undefined;
};
/** The model calls the tool and says what came of it. */
function ask(args: object): void {
  gateway.model.answers((request) => lastResult(request) ?? { text: "", calls: [{ name: "nodes", args: { node: "shed", ...args } }] });
  telegram.say(JSON.stringify(args));
}

test("a file outside of what the node offers is refused without a question; one inside is asked about by its full path and the node's name", async () => {
  await using operator = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin", "operator.approvals"] });
  const questions = () => operator.frames.filter(({ event }) => event === "exec.approval.requested");
  ask({ action: "file_get", path: "/etc/hostname" });
  await expect.poll(texts, PATIENCE).toContain(`/etc/hostname is outside of the folders that the node Shed offers: ${shared}`);
  expect(questions()).toEqual([]);
  ask({ action: "file_get", path: "note.txt" });
  await expect.poll(() => (questions().length === 1 ? "asked" : texts()), PATIENCE).toBe("asked");
  const { id, request } = questions()[0]!.payload as { id: string; request: { command: string } };
  expect(request.command).toBe(`on the node "Shed": file.read ${join(shared, "note.txt")}`);
  await operator.ask("exec.approval.resolve", { id, decision: "allow-once" });
  await expect.poll(texts, PATIENCE).toContain('"bytes": 5');
});

test("an owner in a chat learns at once that nobody can be asked, and why", async () => {
  ask({ action: "run", command: ["touch", "made"] });
  await expect
    .poll(texts, PATIENCE)
    .toMatch(/action=run: exec denied: approval is not possible: no client .* approvals\.exec does not forward requests to chats/);
  ask({ action: "file_get", path: "note.txt", outPath: "other.txt" });
  await expect.poll(texts, PATIENCE).toMatch(/action=file_get: exec denied: approval is not possible/);
});
