import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as library from "baileys";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWriter, openCredentials } from "./files.ts";

const quiet = { info: () => {}, warn: () => {} };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-creds-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const good = (): string => JSON.stringify(library.initAuthCreds(), library.BufferJSON.replacer);
const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const open = () => openCredentials(folder, library, quiet);

test("a folder without a login opens as nothing", async () => {
  expect(await open()).toBeUndefined();
});

test("keys have the names of the reference", async () => {
  put("creds.json", good());
  const files = await open();
  await files!.state.keys.set({ session: { "4917:1/x": Buffer.from("s") }, "pre-key": { "7": library.Curve.generateKeyPair() } });
  expect(readdirSync(folder).toSorted()).toEqual(["creds.json", "pre-key-7.json", "session-4917-1__x.json"]);
  await files!.state.keys.set({ "pre-key": { "7": null } });
  expect(readdirSync(folder)).not.toContain("pre-key-7.json");
});

test("damaged credentials are replaced by their copy, and set aside", async () => {
  put("creds.json", '{"noiseKey": {');
  put("creds.json.bak", good());
  const files = await open();
  expect(files!.state.creds.noiseKey.public).toHaveLength(32);
  expect(readFileSync(join(folder, "creds.json.damaged"), "utf8")).toBe('{"noiseKey": {');
  expect(JSON.parse(readFileSync(join(folder, "creds.json"), "utf8"))).toHaveProperty("noiseKey");
});

test("damaged credentials without a copy are an error that says what to do, and stay", async () => {
  put("creds.json", "x");
  await expect(open()).rejects.toThrow(/damaged.*channels login/);
  expect(readFileSync(join(folder, "creds.json"), "utf8")).toBe("x");
});

test("the copy is what was there before", async () => {
  const first = good();
  put("creds.json", first);
  const files = await open();
  files!.state.creds.accountSyncCounter = 7;
  await files!.saveCreds();
  expect(readFileSync(join(folder, "creds.json.bak"), "utf8")).toBe(first);
  expect(JSON.parse(readFileSync(join(folder, "creds.json"), "utf8"))).toMatchObject({ accountSyncCounter: 7 });
});

test("a damaged key counts as missing", async () => {
  put("creds.json", good());
  put("session-4917.0.json", "{");
  expect(await (await open())!.state.keys.get("session", ["4917.0"])).toEqual({});
});

test("writes to one file follow each other, and a reader never sees half of one", async () => {
  const { write, idle } = createWriter(folder);
  const texts = Array.from({ length: 50 }, (_, at) => JSON.stringify({ at, filler: "x".repeat(10_000) }));
  const writes = texts.map((text) => write("session-1.json", text));
  for (let round = 0; round < 20; round += 1) {
    await writes[round];
    expect(() => JSON.parse(readFileSync(join(folder, "session-1.json"), "utf8")) as unknown).not.toThrow();
  }
  await idle();
  expect(readFileSync(join(folder, "session-1.json"), "utf8")).toBe(texts.at(-1));
  expect(readdirSync(folder)).toEqual(["session-1.json"]);
});
