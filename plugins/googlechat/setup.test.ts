import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runChannelAccount } from "openclaw/plugin-sdk/testing";
import { type Bench, openBench, PROJECT } from "./testing.ts";

let bench: Bench;
let folder: string;
beforeEach(async () => {
  bench = await openBench();
  folder = mkdtempSync(join(tmpdir(), "googlechat-"));
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const keyFile = (text = bench.chat.google.serviceAccount): string => {
  const path = join(folder, "key.json");
  writeFileSync(path, text);
  return path;
};
const audience = { audienceType: "project-number", audience: PROJECT };

test("`channels add` takes a file or the JSON, and says what is missing or wrong", () => {
  const { setup, config } = bench.channel;
  const at = { cfg: {}, accountId: "default" };
  const wrong = (input: object) => setup!.validateInput!({ ...at, input });
  expect(wrong({})).toContain("no service account");
  expect(wrong({ tokenFile: keyFile() })).toContain("audienceType is missing");
  expect(wrong({ tokenFile: keyFile(), audienceType: "app-url", audience: "123" })).toContain("expected a URL such as https://claw.example.com/googlechat");
  expect(wrong({ tokenFile: keyFile(), audienceType: "project-number", audience: "my-project" })).toContain("not the project id");
  expect(wrong({ tokenFile: join(folder, "none.json"), ...audience })).toContain("none.json");
  expect(wrong({ token: "{}", ...audience })).toContain("no client_email");
  expect(wrong({ tokenFile: keyFile(), ...audience })).toBeNull();
  const path = keyFile();
  const cfg = setup!.applyAccountConfig({ ...at, input: { tokenFile: path, ...audience, webhookPath: "chat" } });
  expect(cfg).toMatchObject({ channels: { googlechat: { enabled: true, serviceAccountFile: path, ...audience, webhookPath: "chat" } } });
  expect(config.resolveAccount(cfg)).toMatchObject({ problems: [], webhookPath: "/chat", serviceAccount: bench.chat.google.serviceAccount });
  const two = setup!.applyAccountConfig({ cfg, accountId: "work", input: { token: bench.chat.google.serviceAccount, ...audience } });
  expect(config.resolveAccount(two, "work")).toMatchObject({ problems: [], sources: { serviceAccount: "config" } });
});

test("the service account is read from a text, an object or a file; the path of the webhook from its address", () => {
  const { config } = bench.channel;
  const { serviceAccount } = bench.chat.google;
  const read = (more: object) => config.resolveAccount({ channels: { googlechat: { ...audience, ...more } } });
  const object = JSON.parse(serviceAccount) as object;
  for (const more of [{ serviceAccount }, { serviceAccount: object }, { serviceAccountFile: keyFile() }]) expect(read(more).problems).toEqual([]);
  expect(read({}).problems).toEqual([expect.stringContaining("no service account")]);
  expect(read({ serviceAccount, webhookUrl: "https://claw.example.com/hooks/chat/" }).webhookPath).toBe("/hooks/chat");
  expect(read({ serviceAccount, webhookUrl: "https://claw.example.com/x", webhookPath: "/y" }).webhookPath).toBe("/y");
  expect(read({ serviceAccount }).webhookPath).toBe("/googlechat");
  const elliptic = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
  for (const wrong of ["no json", "[]", '{"client_email":"a@b"}', JSON.stringify({ client_email: "a@b", private_key: elliptic })])
    expect(read({ serviceAccount: wrong }).problems, wrong).toHaveLength(1);
  expect(read({ serviceAccount: `{"private_key": "canary-0123456789"` }).problems.join(" ")).not.toContain("canary");
});

test("an account without an audience does not start, and opens no path", async () => {
  const { serviceAccount } = bench.chat.google;
  for (const more of [{}, { audienceType: "app-url" }, { audience: PROJECT }, { audienceType: "other", audience: PROJECT }, { ...audience, audience: "" }]) {
    const account = runChannelAccount(bench.channel, { cfg: { channels: { googlechat: { serviceAccount, ...more } } } });
    expect(await account.ended).toMatchObject({ permanent: true, message: expect.stringMatching(/audience/) as string });
  }
  expect(bench.asked()).toEqual([]);
});

test("a key that is not accepted ends the account for good, once; a platform that fails is asked again", async () => {
  const wrong = runChannelAccount(bench.channel, { cfg: bench.cfg({ serviceAccount: bench.chat.google.wrongKey() }) });
  expect(await wrong.ended).toMatchObject({ permanent: true });
  expect(wrong.status).toMatchObject({ running: false, lastError: expect.stringContaining("serviceAccount") as string });
  expect(bench.asked()).toEqual(["POST /token"]);
  bench.chat.server.faults.add({ on: "/v1/spaces", status: 503, times: 3 });
  await using account = await bench.run();
  expect(bench.delays.map((ms) => Math.round(ms / 1000))).toEqual([2, 4, 8]);
  expect(account.status).toMatchObject({ connected: true, mode: "webhook", webhookPath: "/googlechat" });
});

test("onboarding asks for everything and checks it against the platform", async () => {
  const notes: string[] = [];
  const answers = [keyFile(), "https://claw.example.com/googlechat"];
  const prompter = {
    note: async (text: string) => void notes.push(text),
    select: async () => "app-url",
    text: async ({ validate }: { validate?: (value: string) => string | undefined }) => {
      expect(validate?.(answers[0]!)).toBeUndefined();
      return answers.shift()!;
    },
    confirm: async () => true,
  };
  const context = { cfg: {}, prompter, runtime: {}, accountOverrides: {}, shouldPromptAccountIds: false, forceAllowFrom: false };
  const { cfg } = await bench.channel.onboarding!.configure(context as unknown as Parameters<NonNullable<Bench["channel"]["onboarding"]>["configure"]>[0]);
  expect(cfg).toMatchObject({
    channels: { googlechat: { serviceAccountFile: join(folder, "key.json"), audienceType: "app-url", audience: "https://claw.example.com/googlechat" } },
  });
  expect(notes.at(-1)).toBe("It works.");
});

test("a probe says what is wrong without the key; lists with names are reported", async () => {
  const { status, config, security } = bench.channel;
  const probe = (more = {}) => status!.probeAccount!({ account: config.resolveAccount(bench.cfg(more)), cfg: bench.cfg(more), timeoutMs: 1000 });
  expect(await probe()).toMatchObject({ ok: true });
  const serviceAccount = bench.chat.google.wrongKey();
  const refused = await probe({ serviceAccount });
  expect(refused).toMatchObject({ ok: false, status: 401 });
  expect(JSON.stringify(refused)).not.toContain("PRIVATE KEY");
  expect(await probe({ audience: "" })).toMatchObject({ ok: false });
  const groups = { [bench.space.name]: { users: ["bert@example.com", bench.anna.name] } };
  const account = config.resolveAccount(bench.cfg({ dm: { allowFrom: ["anna@example.com", bench.anna.name] }, groupPolicy: "open", groups }));
  const warnings = await security!.collectWarnings!({ account, cfg: bench.cfg() });
  expect(warnings.map((line) => /match nobody: anna@example.com, bert@example.com\.|groupPolicy is "open"/.exec(line)?.[0])).toEqual([
    "match nobody: anna@example.com, bert@example.com.",
    'groupPolicy is "open"',
  ]);
  const snapshot = await status!.buildAccountSnapshot!({ account, cfg: bench.cfg() });
  expect(status!.collectStatusIssues!([snapshot])).toMatchObject([{ message: expect.stringContaining("bert@example.com") }]);
  const entries = ["users/123", "googlechat:users/123", "gchat:user:123", "123", "*", "Anna@Example.com"];
  expect(config.formatAllowFrom!({ cfg: {}, allowFrom: entries })).toEqual(["users/123", "users/123", "users/123", "users/123", "*", "users/anna@example.com"]);
});

test("an approval is sent to the person", async () => {
  await bench.channel.pairing!.notifyApproval!({ cfg: bench.cfg(), id: bench.anna.name });
  expect(bench.chat.messages(bench.direct)).toHaveLength(1);
});
