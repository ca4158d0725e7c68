import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { hasDesktop, isRemote, openBrowser } from "./open-browser.ts";

/** A platform's program that opens URLs, under the names that it has on Linux and macOS. */
function opener(script: string): { readonly env: Record<string, string>; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "open-browser-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["xdg-open", "open"]) writeFileSync(join(folder, name), `#!/bin/sh\n${script.replaceAll("FOLDER", folder)}\n`, { mode: 0o755 });
  return { folder, env: { PATH: `${folder}:${process.env["PATH"]}`, DISPLAY: ":0" } };
}

test("a browser that is started by opening a page stays open, whatever it writes", { timeout: 20_000 }, async () => {
  const { env, folder } = opener('echo $$ > FOLDER/pid; echo "$1" > FOLDER/url; head -c 200000 /dev/zero; exec sleep 60');
  const began = performance.now();
  expect(await openBrowser(env, "http://127.0.0.1:1/#code=x")).toBe(true);
  expect(performance.now() - began, "nobody waits for the end of a browser").toBeLessThan(8000);
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  expect(readFileSync(join(folder, "url"), "utf8").trim()).toBe("http://127.0.0.1:1/#code=x");
  // Throws when it is gone.
  process.kill(pid);
});

test("an opener that fails, or is not installed, has opened nothing; one that is done has", async () => {
  expect(await openBrowser(opener("exit 3").env, "http://127.0.0.1:1/")).toBe(false);
  expect(await openBrowser({ PATH: "/nowhere", DISPLAY: ":0" }, "http://127.0.0.1:1/")).toBe(false);
  const { env, folder } = opener("touch FOLDER/opened");
  expect(await openBrowser(env, "http://127.0.0.1:1/")).toBe(true);
  await vi.waitFor(() => expect(existsSync(join(folder, "opened"))).toBe(true));
});

test("over SSH, in a container of an editor and in CI no browser of the user is here", () => {
  const here = { DISPLAY: ":0" };
  expect([isRemote(here), hasDesktop(here)]).toEqual([false, true]);
  for (const name of ["SSH_CONNECTION", "SSH_TTY", "CODESPACES", "REMOTE_CONTAINERS"]) {
    expect([isRemote({ ...here, [name]: "1" }), hasDesktop({ ...here, [name]: "1" })], name).toEqual([true, false]);
  }
  expect(hasDesktop({ ...here, CI: "true" })).toBe(false);
  if (process.platform === "linux") expect([hasDesktop({}), hasDesktop({ WAYLAND_DISPLAY: "wayland-0" })]).toEqual([false, true]);
});
