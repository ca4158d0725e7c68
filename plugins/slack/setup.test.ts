import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appManifest } from "./manifest.ts";
import { startLab } from "./testing.ts";

let lab: Awaited<ReturnType<typeof startLab>>;
beforeAll(async () => void (lab = await startLab()));
afterAll(() => lab[Symbol.asyncDispose]());

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

interface Manifest {
  readonly channelConfigs: {
    readonly slack: { readonly setupSteps: readonly { readonly copy?: readonly { readonly when: { readonly is: string }; readonly text: string }[] }[] };
  };
}

/** A person who answers in order. */
function prompterOf(answers: readonly (string | boolean)[]) {
  const left = [...answers];
  const notes: string[] = [];
  const asked: string[] = [];
  const next = async ({ message }: { message: string }) => {
    asked.push(message);
    return left.shift();
  };
  return { notes, asked, prompter: { note: async (text: string) => void notes.push(text), text: next, confirm: next, select: next } };
}

const STEPS = [
  { text: "Paste the manifest." },
  { text: "Generate a token.", when: { path: "mode", is: "socket" } },
  { text: "Copy the secret.", when: { path: "mode", is: "http" } },
];

async function configure(answers: readonly (string | boolean)[], slack: object = {}) {
  const { prompter, notes, asked } = prompterOf(answers);
  const asking = { accountOverrides: {}, shouldPromptAccountIds: false, forceAllowFrom: false, runtime: {}, steps: STEPS };
  const { cfg } = await lab.channel.onboarding!.configure({ cfg: { channels: { slack } }, prompter, ...asking } as never);
  const shown: unknown = JSON.parse(/\{\n[^]*\n\}/.exec(notes.find((note) => note.includes("display_information"))!)![0]);
  return { slack: cfg.channels?.["slack"], notes, asked, shown };
}

test("Socket Mode: the steps and the manifest for it, the two tokens, and a check", async () => {
  const { botToken, appToken } = lab.slack;
  const { slack, shown, notes, asked } = await configure(["socket", true, botToken, appToken, ""]);
  expect(slack).toEqual({ enabled: true, mode: "socket", botToken, appToken, slashCommand: { enabled: true } });
  expect(shown).toEqual(appManifest({ mode: "socket", command: "openclaw" }));
  expect(notes[0]).toBe("1. Paste the manifest.\n2. Generate a token.");
  expect(asked).toContain("Answer the slash command /openclaw?");
  expect(asked.join()).not.toContain("Signing secret");
  expect(notes.at(-1)).toContain("connected as claw in Acme");
});

test("HTTP mode: no app token is asked for; the manifest names the address, and a path of its own is stored", async () => {
  const { botToken } = lab.slack;
  const before = { slashCommand: { name: "claw", ephemeral: false } };
  const { slack, shown, notes, asked } = await configure(["http", "https://claw.example.com/in/slack", false, botToken, "s3cret", ""], before);
  expect(slack).toEqual({
    enabled: true,
    mode: "http",
    webhookPath: "/in/slack",
    botToken,
    signingSecret: "s3cret",
    slashCommand: { name: "claw", ephemeral: false, enabled: false },
  });
  expect(shown).toEqual(appManifest({ mode: "http", url: "https://claw.example.com/in/slack" }));
  expect(notes[0]).toBe("1. Paste the manifest.\n2. Copy the secret.");
  expect(asked.join()).not.toContain("App token");
});

test.each([
  ["a signing secret alone", { signingSecret: "s" }, { mode: "http", signingSecret: "s" }],
  ["both secrets", { signingSecret: "s", appToken: "xapp-1" }, { signingSecret: "s", appToken: "xapp-1" }],
  ["an address", { mode: "http", signingSecret: "s", webhookUrl: "https://x.example/hooks" }, { mode: "http", signingSecret: "s", webhookPath: "/hooks" }],
  ["the usual address", { mode: "http", signingSecret: "s", webhookUrl: "https://x.example/slack/events" }, { mode: "http", signingSecret: "s" }],
])("flags with %s", (_, input, keys) => {
  const { setup } = lab.channel;
  const all = { botToken: "xoxb-1", ...input };
  expect(setup!.validateInput!({ cfg: {}, accountId: "default", input: all })).toBe(null);
  expect(setup!.applyAccountConfig({ cfg: {}, accountId: "default", input: all }).channels?.["slack"]).toEqual({ enabled: true, botToken: "xoxb-1", ...keys });
});

test("flags that do not go together are refused", () => {
  const refusal = (input: object) => lab.channel.setup!.validateInput!({ cfg: {}, accountId: "default", input: { botToken: "xoxb-1", ...input } });
  expect(refusal({ mode: "http" })).toContain("no signing secret");
  expect(refusal({ mode: "socket" })).toContain("no app token");
  expect(refusal({ mode: "pigeon", appToken: "xapp-1" })).toContain('expected socket or http, not "pigeon"');
});

test("the manifest for HTTP mode names the address everywhere, that for Socket Mode none", () => {
  const url = "https://gw.example/slack/events";
  expect(JSON.stringify(appManifest({ mode: "http", url, command: "openclaw" })).split(url)).toHaveLength(4);
  expect(appManifest({ mode: "socket" })).toMatchObject({
    settings: { socket_mode_enabled: true, event_subscriptions: { bot_events: expect.arrayContaining(["message.im"]) as unknown } },
  });
  expect(JSON.stringify(appManifest({ mode: "socket", command: "openclaw" }))).not.toContain("request_url");
  expect(JSON.stringify(appManifest({ mode: "socket" }))).not.toContain("slash_commands");
});

test("the manifests in the page's steps and in the documentation are those of the code", () => {
  const command = "openclaw";
  const { setupSteps } = (JSON.parse(read("./openclaw.plugin.json")) as Manifest).channelConfigs.slack;
  const copies = setupSteps.flatMap(({ copy = [] }) => copy).map(({ when, text }) => [when.is, text]);
  expect(copies).toEqual([
    ["socket", JSON.stringify(appManifest({ mode: "socket", command }), null, 2)],
    ["http", JSON.stringify(appManifest({ mode: "http", command, url: "{gateway}{webhookPath}" }), null, 2)],
  ]);
  const blocks = [...read("../../docs/channels/slack.md").matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json]) => JSON.parse(json!) as unknown);
  expect(blocks).toEqual([appManifest({ mode: "socket", command }), appManifest({ mode: "http", command, url: "https://claw.example.com/slack/events" })]);
});
