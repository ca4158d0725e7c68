import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { browser } from "../../src/cli/commands/browser/index.ts";
import { openCommandLine } from "../harness/command-line.ts";

const open = (config: object = {}) => openCommandLine<{ path: string; port: number; secret?: string }>("browser", browser, { config: JSON.stringify(config) });

test("install writes the extension and says how to load it; path prints the folder", async () => {
  const line = open();
  expect(await line.run("extension", "path")).toMatchObject({ code: 1, err: expect.stringContaining("openclaw browser extension install") });
  const { out, code } = await line.run("extension", "install");
  expect(code ?? 0).toBe(0);
  const folder = join(line.stateDir, "browser", "chrome-extension");
  expect(out).toContain(`Extension: ${folder}\nPort: 18792\n`);
  expect(out).toContain("Load unpacked");
  expect(existsSync(join(folder, "manifest.json"))).toBe(true);
  expect((await line.run("extension", "path")).out).toBe(`${folder}\n`);
  expect((await line.run("extension", "path", "--json")).json()).toEqual({ path: folder });
});

test("the secret is shown only when it is asked for, stays the same, and is for its user alone", async () => {
  const line = open();
  const first = await line.run("extension", "install", "--json");
  const { path } = first.json();
  expect(first.json()).toEqual({ path, port: 18_792 });
  const stored = JSON.parse(readFileSync(join(path, "connection.json"), "utf8")) as { port: number; secret: string };
  expect(first.out).not.toContain(stored.secret);
  expect((await line.run("extension", "install", "--json", "--show-secret")).json().secret).toBe(stored.secret);
  expect(statSync(join(path, "connection.json")).mode & 0o777).toBe(0o600);
});

test("the port follows the gateway's, the one that runs, or the profile's address", async () => {
  expect((await open({ gateway: { port: 20_000 } }).run("extension", "install", "--json")).json().port).toBe(20_003);
  const running = open();
  running.lock("ws://127.0.0.1:21000");
  expect((await running.run("extension", "install", "--json")).json().port).toBe(21_003);
  const profiles = {
    chrome: { driver: "extension", cdpUrl: "http://127.0.0.1:19000", color: "#00AA00" },
    work: { driver: "extension", cdpUrl: "http://10.0.0.1:19000", color: "#00AA00" },
  };
  const named = open({ browser: { profiles } });
  expect((await named.run("extension", "install", "--json")).json().port).toBe(19_000);
  expect(await named.run("--browser-profile", "work", "extension", "install")).toMatchObject({
    code: 1,
    err: expect.stringContaining("is not an address that the extension can connect to"),
  });
});
