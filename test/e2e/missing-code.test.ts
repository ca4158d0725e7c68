import { cpSync, existsSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const CONFIG = `{
  gateway: { mode: "local", auth: { token: "${TOKEN}" }, http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } } },
}`;

/** A program of its own that a test may take apart. */
function ownBuild(): { readonly build: `dist-test-${string}`; readonly chunks: string } {
  const build = `dist-test-own-${process.pid}-${Date.now()}` as const;
  const folder = join(ROOT, build);
  cpSync(realpathSync(join(ROOT, "dist-test")), folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { build, chunks: join(folder, "chunks") };
}

const ask = (place: Place, message: string) => place.cli("agent", "--agent", "main", "--message", message);

test("a gateway whose program is removed while it runs answers messages, commands and HTTP callers all the same", async () => {
  const place = makePlace();
  place.configure(CONFIG);
  const { build, chunks } = ownBuild();
  await using gateway = await place.gateway({ build, args: ["--verbose"] });
  await gateway.waitFor("the code that turns need is loaded");
  rmSync(chunks, { recursive: true });
  expect(ask(place, "read the file AGENTS.md"), gateway.output()).toMatchObject({ code: 0, stdout: expect.stringMatching(/AGENTS/) });
  expect(ask(place, "/status"), gateway.output()).toMatchObject({ code: 0, stdout: expect.stringContaining("offline") });
  expect(ask(place, "/reset")).toMatchObject({ code: 0 });
  for (const [path, body] of [
    ["chat/completions", { model: "openclaw", messages: [{ role: "user", content: "hello" }] }],
    ["responses", { model: "openclaw", input: "hello" }],
  ] as const) {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const response = await fetch(`${gateway.url}/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect([path, response.status, await response.text()]).toEqual([path, 200, expect.stringContaining("openclaw")]);
  }
  expect(gateway.output()).not.toMatch(/\[(?:agent|conversation|gateway)\].*Cannot find module/);
  expect(existsSync(chunks)).toBe(false);
});

test("code that cannot be loaded for a moment is loaded later: messages wait, health says why, and they are answered", async () => {
  const place = makePlace();
  place.configure(CONFIG);
  const { build, chunks } = ownBuild();
  const file = readdirSync(chunks).find((name) => name.startsWith("reply-"))!;
  renameSync(join(chunks, file), join(chunks, `${file}.away`));
  await using gateway = await place.gateway({ build });
  await gateway.waitFor("could not be loaded");
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({
    status: "degraded",
    problems: [expect.stringContaining("messages wait: the program's own code could not be loaded")],
  });
  const answered = place.start("agent", "--agent", "main", "--message", "hello");
  renameSync(join(chunks, `${file}.away`), join(chunks, file));
  expect(await answered).toMatchObject({ code: 0, stdout: expect.stringContaining("Ask me") });
  expect(JSON.parse(place.cli("status", "--json").stdout).health).toMatchObject({ status: "ok" });
});
