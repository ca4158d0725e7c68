import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { seededRandom } from "../../../base/random.ts";
import type { ToolContext, ToolOutcome } from "../../tool.ts";
import type { SandboxFiles } from "../../sandbox-files.ts";
import { imageTool, type ImageQuestion, type ImageToolDeps } from "./image.ts";

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 4]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 5, 6, 7, 8]);
const WEBP = Buffer.from("RIFF0000WEBPVP8 ", "latin1");
const dataUrl = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;

let home: string;
let workspace: string;
let asked: ImageQuestion[];
let fetched: string[];
let deps: ImageToolDeps;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-image-"));
  workspace = join(home, "workspace");
  for (const folder of [workspace, join(home, "media"), join(home, "outside")]) mkdirSync(folder);
  writeFileSync(join(workspace, "a.png"), PNG);
  writeFileSync(join(workspace, "b.txt"), JPEG);
  writeFileSync(join(workspace, "text.png"), "no picture");
  writeFileSync(join(workspace, "bad.png"), Buffer.from([0xff, 0xfe, 0xfd]));
  writeFileSync(join(workspace, "huge.png"), PNG);
  truncateSync(join(workspace, "huge.png"), 10 * 1024 ** 3);
  writeFileSync(join(home, "media/m.webp"), WEBP);
  writeFileSync(join(home, "outside/secret.png"), PNG);
  symlinkSync(join(home, "outside/secret.png"), join(workspace, "link.png"));
  symlinkSync(join(home, "media/m.webp"), join(home, "media/inner.webp"));
  symlinkSync(join(workspace, "a.png"), join(home, "media/across.png"));
  symlinkSync(join(home, "outside/secret.png"), join(home, "media/out.png"));
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  asked = [];
  fetched = [];
  deps = {
    ids: createIds(seededRandom(1)),
    workspaceOnly: () => false,
    home,
    imageFolders: () => [join(home, "media")],
    async fetchImage(url) {
      fetched.push(url);
      if (url.includes("missing")) throw new AppError("NOT_FOUND", "404 Not Found");
      return { data: url.includes("large") ? Buffer.concat([PNG, Buffer.alloc(6 * 1024 * 1024)]) : JPEG };
    },
    async describe(question) {
      asked.push(question);
      return { text: "a cat", provider: "openai", model: "gpt-5-mini" };
    },
  };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function run(params: Record<string, unknown>, signal = new AbortController().signal): Promise<ToolOutcome> {
  const context: ToolContext = { agentId: "main", sessionKey: "k", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true };
  return imageTool.create(deps).run({ id: "c", params, signal, update: () => undefined, context });
}
const text = ({ content }: ToolOutcome): string => content.map((part) => (part.type === "text" ? part.text : "?")).join("|");

test.each<[string, () => Record<string, unknown>, readonly Buffer[], readonly string[]]>([
  ["a path", () => ({ image: "a.png" }), [PNG], ["image/png"]],
  ["a path with an @", () => ({ image: "@a.png" }), [PNG], ["image/png"]],
  ["a path from home", () => ({ image: "~/workspace/a.png" }), [PNG], ["image/png"]],
  ["whatever it is called", () => ({ image: "b.txt" }), [JPEG], ["image/jpeg"]],
  ["a file: URL", () => ({ image: String(pathToFileURL(join(workspace, "a.png"))) }), [PNG], ["image/png"]],
  ["a data: URL", () => ({ image: dataUrl(JPEG) }), [JPEG], ["image/jpeg"]],
  ["an http URL", () => ({ image: "https://example.com/cat" }), [JPEG], ["image/jpeg"]],
  ["a folder that images may come from", () => ({ image: join(home, "media/m.webp") }), [WEBP], ["image/webp"]],
  ["a link inside such a folder", () => ({ image: join(home, "media/inner.webp") }), [WEBP], ["image/webp"]],
  ["a link from one such folder to another", () => ({ image: join(home, "media/across.png") }), [PNG], ["image/png"]],
  ["several, each once", () => ({ image: "a.png", images: ["b.txt", "a.png", " b.txt "] }), [PNG, JPEG], ["image/png", "image/jpeg"]],
])("an image is shown to the model: %s", async (_, params, bytes, types) => {
  const outcome = await run(params());
  expect(text(outcome)).toBe("a cat");
  expect(outcome.isError).toBe(false);
  expect(asked).toHaveLength(1);
  expect(asked[0]!.images).toEqual(bytes.map((data, at) => ({ type: "image", data: data.toString("base64"), mimeType: types[at] })));
});

test("the model is asked what the call says, else for a description, and the answer names who gave it", async () => {
  expect((await run({ image: "a.png" })).details).toEqual({ model: "openai/gpt-5-mini", image: "a.png", attempts: [] });
  expect(asked[0]).toMatchObject({ prompt: "Describe the image.", maxTokens: 4096 });
  expect(asked[0]).not.toHaveProperty("model");
  deps = { ...deps, describe: async (question) => (asked.push(question), { text: "two", provider: "p", model: "m", attempts: [{ error: "busy" }] }) };
  const { details } = await run({ images: ["a.png", dataUrl(Buffer.concat([PNG, Buffer.alloc(1000)]))], prompt: " How many? ", model: "p/m" });
  expect(asked[1]).toMatchObject({ prompt: "How many?", model: "p/m" });
  expect(details).toEqual({
    model: "p/m",
    images: [{ image: "a.png" }, { image: expect.stringMatching(/^data:image\/png;base64,.{90,110}…$/) }],
    attempts: [{ error: "busy" }],
  });
});

test.each<[string, () => Record<string, unknown>, string | RegExp, unknown]>([
  ["no image", () => ({ prompt: "what?" }), "image required", undefined],
  ["blank images", () => ({ image: " ", images: ["", 3] }), "image required", undefined],
  [
    "too many images",
    () => ({ images: Array.from({ length: 21 }, (_, n) => `${n}.png`) }),
    "Too many images: 21 provided, maximum is 20. Please reduce the number of images.",
    { error: "too_many_images", count: 21, max: 20 },
  ],
  [
    "more than the call allows",
    () => ({ images: ["a.png", "b.txt"], maxImages: 1 }),
    /^Too many images: 2 provided, maximum is 1/,
    { error: "too_many_images", count: 2, max: 1 },
  ],
  [
    "another scheme",
    () => ({ image: "ftp://x/a.png" }),
    "Unsupported image reference: ftp://x/a.png. Use a file path, a file:// URL, a data: URL, or an http(s) URL.",
    { error: "unsupported_image_reference", image: "ftp://x/a.png" },
  ],
  [
    "a file of another machine",
    () => ({ image: "file://other/a.png" }),
    /^Unsupported image reference/,
    { error: "unsupported_image_reference", image: "file://other/a.png" },
  ],
  ["no such file", () => ({ image: "none.png" }), /^Could not load none\.png: .*does not exist/, { error: "NOT_FOUND", image: "none.png" }],
  ["a text", () => ({ image: "text.png" }), /^Could not load text\.png: it is not a supported image type/, { error: "INVALID_INPUT", image: "text.png" }],
  ["bytes that are nothing", () => ({ image: "bad.png" }), /it is not a supported image type/, { error: "INVALID_INPUT", image: "bad.png" }],
  [
    "10 GB",
    () => ({ image: "huge.png" }),
    /^Could not load huge\.png: it has 10 GB, and at most 5 MB can be shown/,
    { error: "INVALID_INPUT", image: "huge.png" },
  ],
  [
    "10 GB when the call allows it",
    () => ({ image: "huge.png", maxBytesMb: 1e9 }),
    /at most 20 MB can be shown/,
    { error: "INVALID_INPUT", image: "huge.png" },
  ],
  ["larger than the call allows", () => ({ image: "a.png", maxBytesMb: 0.000001 }), /at most 1 B can be shown/, { error: "INVALID_INPUT", image: "a.png" }],
  ["a folder", () => ({ image: "." }), /is a folder$/, { error: "INVALID_INPUT", image: "." }],
  ["a pipe", () => ({ image: "pipe" }), /is no regular file$/, { error: "INVALID_INPUT", image: "pipe" }],
  ["a device", () => ({ image: "/dev/zero" }), /Path escapes sandbox root/, { error: "PERMISSION_DENIED", image: "/dev/zero" }],
  ["a path outside", () => ({ image: "../outside/secret.png" }), /Path escapes sandbox root/, { error: "PERMISSION_DENIED", image: "../outside/secret.png" }],
  ["a link out", () => ({ image: "link.png" }), /Path escapes sandbox root/, { error: "PERMISSION_DENIED", image: "link.png" }],
  [
    "a link out of a folder for images",
    () => ({ image: "~/media/out.png" }),
    /Path escapes sandbox root/,
    { error: "PERMISSION_DENIED", image: "~/media/out.png" },
  ],
  ["data that is not base64", () => ({ image: "data:image/png,abc" }), /Invalid data URL/, { error: "INVALID_INPUT", image: "data:image/png,abc" }],
  [
    "data that is too large",
    () => ({ image: dataUrl(Buffer.alloc(6 * 1024 * 1024)) }),
    /it has 6 MB, and at most 5 MB/,
    expect.objectContaining({ error: "INVALID_INPUT" }),
  ],
  [
    "an address that fails",
    () => ({ image: "http://x/missing" }),
    "Could not load http://x/missing: 404 Not Found",
    { error: "NOT_FOUND", image: "http://x/missing" },
  ],
  ["an address of too much", () => ({ image: "http://x/large" }), /at most 5 MB can be shown/, { error: "INVALID_INPUT", image: "http://x/large" }],
])("a call with %s gets the reason, and no model is asked", async (_, params, said, details) => {
  const outcome = await run(params());
  if (typeof said === "string") expect(text(outcome)).toBe(said);
  else expect(text(outcome)).toMatch(said);
  expect(outcome.isError).toBe(true);
  expect(outcome.details).toEqual(details);
  expect(asked).toEqual([]);
});

test("in a sandbox no address is fetched, and files are those of the sandbox", async () => {
  mkdirSync(join(home, "sandbox"));
  writeFileSync(join(home, "sandbox/s.png"), PNG);
  const place: SandboxFiles = {
    mounts: [{ inside: "/workspace", host: join(home, "sandbox"), writable: true }],
    readOnly: false,
    ready: async () => undefined,
  };
  deps = { ...deps, place: () => place };
  expect(text(await run({ image: "https://example.com/cat" }))).toBe(
    "Could not load https://example.com/cat: Sandboxed image tool does not allow remote URLs.",
  );
  expect(fetched).toEqual([]);
  expect(text(await run({ image: join(home, "media/m.webp") }))).toMatch(/Path escapes sandbox root/);
  expect(text(await run({ image: "/workspace/s.png" }))).toBe("a cat");
  expect(text(await run({ image: "s.png" }))).toBe("a cat");
});

test("with workspaceOnly only the workspace is left", async () => {
  deps = { ...deps, workspaceOnly: () => true };
  expect(text(await run({ image: join(home, "media/m.webp") }))).toMatch(/Path escapes sandbox root/);
  expect(text(await run({ image: "a.png" }))).toBe("a cat");
});

test("a model's failure is reported; a call that was stopped ends as stopped", async () => {
  deps = { ...deps, describe: () => Promise.reject(new AppError("MODEL_FAILED", "no model sees images")) };
  const outcome = await run({ image: "a.png" });
  expect(outcome).toMatchObject({ isError: true, details: { error: "MODEL_FAILED" } });
  expect(text(outcome)).toBe("The image model failed: no model sees images");
  await expect(run({ image: "a.png" }, AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
});
