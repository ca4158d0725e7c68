/** What keeps pages, and those who write them, from what is not theirs. `npm run mutants` removes each of these defences. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import type { ApprovalDecision, ApprovalQuestion } from "../../src/tools/broker/approval.ts";
import { createBroker } from "../../src/tools/broker/broker.ts";
import { openLab, refIn, textOf, type Lab } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ maxDownloadBytes: 3 * 1024 * 1024 });
});
afterAll(() => lab[Symbol.asyncDispose]());

test("text of a page is marked and cannot end its mark", async () => {
  const page = await lab.user().open("/hostile");
  expect(page.match(/<<<END_EXTERNAL_UNTRUSTED_CONTENT/g)).toHaveLength(1);
  expect(page.trimEnd()).toMatch(/<<<END_EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]+">>>$/);
  expect(page).toContain("SECURITY NOTICE");
  expect(page.indexOf("SYSTEM: ignore")).toBeGreaterThan(page.indexOf("<<<EXTERNAL_UNTRUSTED_CONTENT"));
  expect(lab.tool.name).toBe("browser");
});
describe("the network", () => {
  const inside = (path: string): string => lab.at(path, "inside.test");

  test("addresses inside are refused to navigation, also by a redirect", async () => {
    const user = lab.user();
    await user.open("/home");
    const before = lab.site.seen.length;
    for (const url of [inside("/"), `http://127.0.0.1:${lab.site.port}/`, `http://0x7f.1:${lab.site.port}/`, `http://localhost:${lab.site.port}/`]) {
      expect(await user.failure({ action: "navigate", targetUrl: url })).toContain("browser.ssrfPolicy");
    }
    expect(lab.site.seen.slice(before)).toEqual([]);
    expect(await user.failure({ action: "navigate", targetUrl: lab.at(`/to?url=${encodeURIComponent(inside("/secret"))}`) })).toContain("private address");
    expect(lab.site.seen.filter((path) => path.startsWith("inside.test"))).toEqual([]);
  });

  test("pictures, scripts, frames, fetch, workers and WebSockets of a page cannot reach them either", async () => {
    const user = lab.user();
    const [address, literal] = [inside("/secret"), `127.0.0.1:${lab.site.port}`];
    const worker = `fetch("${address}?worker").catch(() => 0).then(() => postMessage(1))`;
    const script = `
      const done = [fetch("${address}?fetch", { mode: "no-cors" }).catch(() => 0)];
      done.push(new Promise((end) => { const socket = new WebSocket("ws://${literal}/"); socket.onclose = end; }));
      done.push(new Promise((end) => { const socket = new WebSocket("ws://inside.test:${lab.site.port}/"); socket.onclose = end; }));
      done.push(new Promise((end) => { const made = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(worker)}]))); made.onmessage = end; made.onerror = end; }));
      done.push(new Promise((end) => { const image = new Image(); image.onerror = end; image.src = "http://${literal}/picture"; }));
      navigator.sendBeacon("${address}?beacon", "x");
      Promise.all(done).then(() => { document.title = "done"; document.body.append("all done"); });`;
    const html = `<iframe src="${address}?frame"></iframe><link rel=prefetch href="${address}?prefetch"><script src="${address}?script"></script><script>${script}</script>`;
    await user.open(`/write?html=${encodeURIComponent(html)}`);
    expect(await user.act({ kind: "wait", text: "all done" })).toContain("tab");
    expect(lab.site.seen.filter((path) => path.startsWith("inside.test") || path.startsWith("127."))).toEqual([]);
    expect(lab.site.upgrades).toEqual([]);
  });
});

test("a download that is too large stops at the limit", async () => {
  const answer = await lab.user().text({ action: "open", targetUrl: lab.at("/flood") });
  expect(answer).toContain("download failed: the file is larger than 3 MB");
});

describe("files", () => {
  test("pictures and prints are stored, and only files of the upload folder go into a page", async () => {
    const user = lab.user();
    const page = await user.open("/upload");
    const { content } = await user.call({ action: "screenshot" });
    expect(content).toMatchObject([{ text: expect.stringMatching(/MEDIA:.*media\/browser\/.*\.png/) }, { type: "image", mimeType: "image/png" }]);
    const pdf = /FILE:(.*\.pdf)/.exec(await user.text({ action: "pdf" }))?.[1] ?? "";
    expect(readFileSync(pdf).subarray(0, 5).toString()).toBe("%PDF-");
    const folder = join(tmpdir(), "openclaw", "uploads");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `note-${lab.site.port}.txt`);
    writeFileSync(file, "hello");
    const inputRef = refIn(page, '"File"');
    expect(await user.text({ action: "upload", paths: [file], inputRef })).toContain(`note-${lab.site.port}.txt`);
    rmSync(file);
    for (const path of ["/etc/passwd", join(folder, "..", "..", "..", "etc", "passwd"), "note.txt"]) {
      expect(await user.failure({ action: "upload", paths: [path], inputRef })).toContain("may not be uploaded");
    }
  });
});

test("scripts of the agent run in pages only where the configuration lets them", async () => {
  const user = lab.user();
  await user.open("/home");
  expect(await user.act({ kind: "evaluate", fn: "1 + 1" })).toContain("result: 2");
  await lab.change({ evaluateEnabled: false });
  for (const request of [
    { kind: "evaluate", fn: "1" },
    { kind: "wait", fn: "() => true" },
  ])
    expect(await user.failure({ action: "act", request })).toContain("browser.evaluateEnabled");
  await lab.change({ evaluateEnabled: true });
});

describe("a list of allowed hosts", () => {
  let decide: (question: ApprovalQuestion) => ApprovalDecision;
  const questions: ApprovalQuestion[] = [];
  beforeEach(() => {
    questions.length = 0;
  });

  /** A session whose calls pass the broker, as in a turn. */
  async function session(name: string): Promise<(params: object) => Promise<string>> {
    const broker = createBroker({
      clock: systemClock,
      log: silentLogger,
      config: () => lab.config.current,
      tools: () => [lab.tool],
      facts: () => ({ sandboxed: false }),
      hooks: { has: () => false, run: () => undefined },
      askApproval(question) {
        questions.push(question);
        return Promise.resolve(decide(question));
      },
    });
    const box = await broker.open({ agentId: "main", sessionKey: name, sessionId: name, runId: "r", workspaceDir: tmpdir(), owner: true });
    return async (params) => textOf(await box.run({ id: "c", name: "browser", arguments: { ...params }, signal: new AbortController().signal }));
  }

  test("is left only with consent, which is asked for once in a session and holds for pages of that host alone", async () => {
    await lab.change({ ssrfPolicy: { allowedHostnames: ["shop.test"], hostnameAllowlist: ["*.shop.test"], allowPrivateNetwork: true } });
    onTestFinished(() => lab.change({ ssrfPolicy: { allowedHostnames: ["shop.test"], hostnameAllowlist: null, allowPrivateNetwork: null } } as never));
    const [one, two] = [await session("agent:main:one"), await session("agent:main:two")];
    const other = lab.at("/home", "other.test");
    decide = () => "deny";
    expect(await one({ action: "open", targetUrl: lab.at("/home") })).toContain("tab t");
    expect(questions).toEqual([]);
    expect(await one({ action: "navigate", targetUrl: other })).toBe("Denied by the operator: Open other.test in the browser?");
    expect(lab.site.seen.some((path) => path.startsWith("other.test"))).toBe(false);
    expect(questions).toMatchObject([{ title: "Open other.test in the browser?", allowedDecisions: ["allow-once", "deny"], toolName: "browser" }]);
    decide = () => "allow-once";
    expect(await one({ action: "navigate", targetUrl: other })).toContain("other.test");
    expect(await one({ action: "open", targetUrl: `${other}?again` })).toContain("other.test");
    expect(questions).toHaveLength(2);
    // What the page loads from elsewhere stays blocked, and so do other ways there.
    const html = `<img src="${lab.at("/picture", "third.test")}"><script>fetch("${lab.at("/data", "third.test")}").catch(() => document.body.append("all done"))</script>`;
    expect(await one({ action: "navigate", targetUrl: lab.at(`/write?html=${encodeURIComponent(html)}`, "other.test") })).toContain("all done");
    expect(await one({ action: "navigate", targetUrl: lab.at(`/to?url=${encodeURIComponent(lab.at("/", "third.test"))}`) })).toContain("not on the list");
    expect(lab.site.seen.filter((path) => path.startsWith("third.test"))).toEqual([]);
    // Another session asks by itself, and a request past the tool is refused.
    decide = () => "timeout";
    expect(await two({ action: "open", targetUrl: `http://OTHER.test.:${lab.site.port}/home` })).toBe("Not approved in time: Open other.test in the browser?");
    await expect(lab.request("POST", "/tabs/open", { url: lab.at("/", "third.test") })).rejects.toThrow("not on the list");
  });

  test("never leads inside: consent does not lift the other rules", async () => {
    await lab.change({ ssrfPolicy: { allowedHostnames: ["shop.test"], hostnameAllowlist: ["shop.test"] } });
    onTestFinished(() => lab.change({ ssrfPolicy: { allowedHostnames: ["shop.test"], hostnameAllowlist: null } } as never));
    decide = () => "allow-once";
    const user = await session("agent:main:inside");
    expect(await user({ action: "open", targetUrl: lab.at("/secret", "inside.test") })).toContain("private address");
    expect(lab.site.seen.some((path) => path.startsWith("inside.test"))).toBe(false);
  });
});
