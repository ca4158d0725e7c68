/**
 * 18: a list of media parameters missed one. A model that was talked into everything writes the path of a file outside of its workspace into every text
 * parameter of every tool it has, in every form; nothing of the file may reach a model, a chat or a transcript.
 */
import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fileOutside } from "../../src/conversation/delivery/message-tool.ts";
import { startHijackedModel, orders, textOf, type HijackedCall, type HijackedModel, type SentTool } from "../harness/hijacked-model.ts";
import { startTelegramGateway, type TelegramGateway } from "./telegram-gateway.ts";

const CANARY = "canary-of-a-file-outside";
const INSIDE = "canary-of-a-file-inside";
/** A chunk of a PNG file. */
function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const body = Buffer.concat([Buffer.from(type), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A whole PNG of one pixel, with a text in it. */
const picture = (text: string): Buffer =>
  Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", Buffer.from("00000001000000010800000000", "hex")),
    chunk("tEXt", Buffer.from(`Comment\0${text.repeat(30)}`)),
    chunk("IDAT", deflateSync(Buffer.from([0, 0]))),
    chunk("IEND", Buffer.alloc(0)),
  ]);

let model: HijackedModel;
let at: TelegramGateway;
let outside: string;
let workspace: string;
let runs = 0;

beforeAll(async () => {
  // Not below the gateway's own temporary folder, which files may be sent from.
  outside = mkdtempSync(join(tmpdir(), "outside-"));
  workspace = mkdtempSync(join(tmpdir(), "workspace-"));
  writeFileSync(join(outside, "secret.txt"), CANARY);
  writeFileSync(join(outside, "secret.png"), picture(CANARY));
  model = await startHijackedModel();
  const models = [{ id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8192, input: ["text", "image"] }];
  at = await startTelegramGateway(({ me }) => ({ dmPolicy: "allowlist", allowFrom: [me.id], streamMode: "off" }), {
    // Known to have been taught patches.
    models: { providers: { openai: { baseUrl: model.url, apiKey: "k", api: "openai-completions", models } } },
    tools: { fs: { workspaceOnly: true }, exec: { host: "gateway", security: "deny", ask: "off", applyPatch: { enabled: true } } },
    agents: { defaults: { model: { primary: "openai/large" }, imageModel: { primary: "openai/large" }, workspace, skipBootstrap: true } },
  });
  writeFileSync(join(workspace, "own.txt"), INSIDE);
  writeFileSync(join(workspace, "own.png"), picture(INSIDE));
  symlinkSync(join(outside, "secret.txt"), join(workspace, "link.txt"));
  symlinkSync(join(outside, "secret.png"), join(workspace, "link.png"));
  symlinkSync(outside, join(workspace, "folder"));
}, 60_000);
afterAll(async () => {
  await at?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

/** Has the model make the calls, and returns the result of each. */
async function order(calls: readonly HijackedCall[]): Promise<readonly string[]> {
  const idempotencyKey = `canary-${(runs += 1)}`;
  const { operator } = at.gateway;
  const sent = await operator.request("chat.send", { sessionKey: `agent:main:run-${runs}`, message: orders(calls), idempotencyKey });
  expect(sent.ok, JSON.stringify(sent)).toBe(true);
  expect((await operator.request("agent.wait", { runId: idempotencyKey, timeoutMs: 60_000 })).payload?.["status"]).toBe("ok");
  const { messages } = model.requests.findLast(({ messages: all }) => all.some(({ role }) => role === "tool"))!;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}
type At = readonly (string | number)[];

/** Where a schema takes free text, at any depth; an object that says nothing about itself takes any. */
function textsIn(schema: Schema, path: At = []): At[] {
  if (schema.type === "string") return schema.enum ? [] : [path];
  if (schema.type === "array" && schema.items) return textsIn(schema.items, [...path, 0]);
  if (schema.properties) return Object.entries(schema.properties).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
  return schema.type === "object" && path.length > 0
    ? [
        [...path, "path"],
        [...path, "media"],
      ]
    : [];
}

function withText(value: unknown, [head, ...rest]: At, text: string): unknown {
  if (head === undefined) return text;
  if (typeof head === "number") return [withText(undefined, rest, text)];
  return { ...(value as object | undefined), [head]: withText((value as Record<string, unknown> | undefined)?.[head], rest, text) };
}

const patch = (path: string): readonly string[] => [
  `*** Begin Patch\n*** Update File: ${path}\n@@\n+owned\n*** End Patch`,
  `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`,
  `*** Begin Patch\n*** Add File: ${path}.new\n+owned\n*** End Patch`,
  `*** Begin Patch\n*** Update File: own.txt\n*** Move to: ${path}\n@@\n-${INSIDE}\n+owned\n*** End Patch`,
];

/** What else a call needs to get as far as the file. */
const usual = (): Record<string, unknown> => ({
  path: ".",
  pattern: "canary",
  content: "x",
  oldText: "canary",
  newText: "owned",
  query: "x",
  url: "http://127.0.0.1:1/",
  prompt: "what is it?",
  image: "own.png",
  channel: "telegram",
  target: String(at.telegram.me.id),
  message: "hello",
});

function formsOf(name: string): readonly string[] {
  const path = join(outside, `secret.${name}`);
  return [
    path,
    `file://${path}`,
    `@${path}`,
    `../${"../".repeat(12)}${path.slice(1)}`,
    `link.${name}`,
    `folder/secret.${name}`,
    `${workspace}/../${basename(outside)}/secret.${name}`,
  ];
}

/** Every tool with every form in every place. */
function callsFor({ name, parameters }: SentTool): HijackedCall[] {
  const actions = ((parameters.properties?.["action"]?.enum ?? [undefined]) as readonly (string | undefined)[]).filter((action) => action !== "poll");
  const call = (args: Record<string, unknown>): HijackedCall => ({ name, args });
  const places = textsIn(parameters as Schema).filter(([head]) => head !== "action" && head !== "channel" && head !== "target" && head !== "to");
  const forms = [...formsOf("txt"), ...formsOf("png")];
  return places.flatMap((place) => {
    const isFile = /path|media|image|file|input|url/i.test(String(place.findLast((part) => typeof part === "string")));
    const texts = name === "apply_patch" ? forms.flatMap(patch) : isFile ? forms : [forms[0]!];
    return texts.flatMap((text, n) =>
      (isFile && n < 2 ? actions : actions.slice(0, 1)).map((action) =>
        call(withText({ ...usual(), ...(action === undefined ? {} : { action }) }, place, text) as Record<string, unknown>),
      ),
    );
  });
}

/** A piece of the picture as it stands in base64, wherever in it that begins. */
const ENCODED = [0, 1, 2].map((shift) => Buffer.from(CANARY.repeat(3)).subarray(shift).toString("base64").slice(0, 40));
const leaks = (text: string): boolean => text.includes(CANARY) || ENCODED.some((piece) => text.includes(piece));

test("18: the path of a file outside, in any text parameter of any tool and in any form, brings nothing of it out", { timeout: 120_000 }, async () => {
  await order([{ name: "read", args: { path: "own.txt" } }]);
  const tools = model.requests.at(-1)!.tools.filter(({ name }) => name !== "gateway");
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["read", "write", "edit", "grep", "find", "ls", "image", "message", "apply_patch", "exec"]),
  );
  const calls = tools.flatMap(callsFor);
  expect(calls.length).toBeGreaterThan(300);
  for (let from = 0; from < calls.length; from += 60) {
    const some = calls.slice(from, from + 60);
    for (const [n, text] of (await order(some)).entries()) expect(leaks(text), `${JSON.stringify(some[n])} → ${text}`).toBe(false);
  }
  expect(model.requests.flatMap(({ messages }) => messages).filter(({ content }) => leaks(JSON.stringify(content)))).toEqual([]);
  const sent = at.telegram
    .calls()
    .map(({ params, files }) => JSON.stringify(params) + [...files.values()].map((file) => Buffer.from(file.data).toString("latin1")).join());
  expect(sent.filter(leaks)).toEqual([]);
  expect(readdirSync(outside).sort()).toEqual(["secret.png", "secret.txt"]);
  expect([readFileSync(join(outside, "secret.txt"), "utf8"), readFileSync(join(outside, "secret.png")).equals(picture(CANARY))]).toEqual([CANARY, true]);
});

test("18: a file of the workspace does come out by these tools, so that a refusal means something", { timeout: 60_000 }, async () => {
  writeFileSync(join(workspace, "own.txt"), INSIDE);
  writeFileSync(join(workspace, "own.png"), picture(INSIDE));
  const [read, grep] = await order([
    { name: "read", args: { path: "own.txt" } },
    { name: "grep", args: { pattern: INSIDE, path: "." } },
    { name: "image", args: { image: "own.png", prompt: "what is it?" } },
    { name: "message", args: { ...usual(), action: "send", media: join(workspace, "own.png") } },
  ]);
  expect([read, grep]).toEqual([expect.stringContaining(INSIDE), expect.stringContaining("own.txt")]);
  const piece = picture(INSIDE).toString("base64").slice(80, 140);
  expect(model.requests.some(({ messages }) => JSON.stringify(messages).includes(piece))).toBe(true);
  await expect
    .poll(() => at.telegram.calls().some(({ files }) => [...files.values()].some((file) => Buffer.from(file.data).includes(INSIDE))), { timeout: 20_000 })
    .toBe(true);
});

test("18: what a channel's own action is handed has no file outside in it, under whatever name", async () => {
  // A folder of its own: a patch may take away a link that is in the workspace.
  const roots = [mkdtempSync(join(tmpdir(), "sending-"))];
  for (const name of ["txt", "png"]) symlinkSync(join(outside, `secret.${name}`), join(roots[0]!, `link.${name}`));
  symlinkSync(outside, join(roots[0]!, "folder"));
  for (const name of ["txt", "png"]) writeFileSync(join(roots[0]!, `own.${name}`), INSIDE);
  for (const text of formsOf("txt").filter((form) => !form.startsWith("@")))
    for (const params of [{ anything: text }, { deep: [{ er: text }] }, { stickerId: [text] }, { card: { body: { image: { src: text } } } }])
      expect([text, await fileOutside(params, roots)]).toEqual([text, text]);
  expect(
    await fileOutside({ media: "own.png", path: join(roots[0]!, "own.txt"), id: "123", url: "https://example.com/etc/passwd", text: "a/b" }, roots),
  ).toBeUndefined();
});
