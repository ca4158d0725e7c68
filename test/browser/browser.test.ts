import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokensOfChars } from "../../src/sessions/index.ts";
import { openLab, refIn, textOf, type Lab } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ maxDownloadBytes: 3 * 1024 * 1024 });
});
afterAll(() => lab[Symbol.asyncDispose]());

const tokens = (text: string): number => tokensOfChars(text.length);
const lineWith = (text: string, part: string): string | undefined => text.split("\n").find((line) => line.includes(part));

describe("a task", () => {
  test("logging in, searching, filling a form and downloading take ten calls and few tokens", async () => {
    const user = lab.user();
    const results: string[] = [];
    const step = async (params: Readonly<Record<string, unknown>>): Promise<string> => {
      const text = await user.text(params);
      results.push(text);
      return text;
    };
    const act = (request: Readonly<Record<string, unknown>>): Promise<string> => step({ action: "act", request });
    const login = await step({ action: "open", targetUrl: lab.at("/") });
    await act({ kind: "type", ref: refIn(login, "User"), text: "ada" });
    await act({ kind: "type", ref: refIn(login, "Password"), text: "lamp" });
    const home = await act({ kind: "click", ref: refIn(login, "Sign in") });
    expect(home).toContain("Welcome, Ada");
    const search = await act({ kind: "click", ref: refIn(home, "Search") });
    const found = await act({ kind: "type", ref: refIn(search, "Find"), text: "lamp", submit: true });
    expect(found).toContain("Blue lamp");
    await act({ kind: "click", ref: refIn(found, "Blue lamp") });
    const order = await step({ action: "navigate", targetUrl: lab.at("/order") });
    const fields = [
      { ref: refIn(order, "Name"), value: "Ada" },
      { ref: refIn(order, "Amount"), value: 2 },
      { ref: refIn(order, "Size"), type: "select", value: "Large" },
      { ref: refIn(order, "Gift"), type: "checkbox", value: true },
    ];
    await act({ kind: "fill", fields });
    const sent = await act({ kind: "click", ref: refIn(order, "Send order") });
    expect(sent).toContain("name=Ada, amount=2, size=Large, gift=on");
    const last = await act({ kind: "click", ref: refIn(sent, "Invoice") });
    const path = /to (\S+\.csv)/.exec(last)?.[1];
    expect(readFileSync(path ?? "", "utf8")).toBe("lamp;1\n");

    expect(results.length).toBeLessThanOrEqual(12);
    // Each call of the model gets every result so far.
    const prompts = results.map((_, at) => results.slice(0, at).reduce((sum, text) => sum + tokens(text), 0));
    expect(prompts.reduce((sum, count) => sum + count, 0)).toBeLessThan(25_000);
    for (const result of results) expect(tokens(result)).toBeLessThan(500);
  });

  test("elements keep their refs while they are on the page", async () => {
    const user = lab.user();
    const page = await user.open("/search");
    const field = refIn(page, "Find");
    await user.act({ kind: "type", ref: field, text: "chair", submit: true });
    const chair = refIn(await user.text({ action: "snapshot" }), "Green chair");
    const later = await user.act({ kind: "type", ref: field, text: "", submit: true });
    expect(refIn(await user.text({ action: "snapshot" }), "Find")).toBe(field);
    expect(later).toContain("- link");
    expect(await user.failure({ action: "act", request: { kind: "click", ref: chair } })).toContain(`${chair} is not on the page`);
  });

  test("sessions have current tabs of their own", async () => {
    const [one, other] = [lab.user(), lab.user()];
    await one.open("/home");
    await other.open("/order");
    expect(await one.text({ action: "snapshot" })).not.toContain("Send order");
    expect(await other.text({ action: "snapshot" })).toContain("Send order");
  });
});

describe("outlines", () => {
  test("a page of thousands of nodes is cut to its limit and says how to see the rest; a click shows only what changed", async () => {
    const user = lab.user();
    const page = await user.open("/large?rows=1000");
    const whole = await user.text({ action: "snapshot" });
    expect(tokens(whole)).toBeLessThan(6000);
    expect(whole).toMatch(/the last \d+ lines .*left out.*ask with selector/);
    expect(tokens(await user.text({ action: "snapshot", selector: "tr:nth-child(900)" }))).toBeLessThan(500);
    const diff = await user.act({ kind: "click", ref: refIn(page, '"More"') });
    expect(diff).toContain("Count: 1");
    expect(tokens(diff)).toBeLessThan(500);
    expect((await user.text({ action: "snapshot", mode: "efficient" })).length).toBeLessThan(11_500);
  });

  test("frames, fields and passwords are shown as a reader needs them", async () => {
    const user = lab.user();
    const framed = await user.open("/frames");
    expect(framed).toMatch(/frame "http:.*\/order"/);
    await user.act({ kind: "type", ref: refIn(framed, '"Name"'), text: "Ada" });
    const login = await user.text({
      action: "navigate",
      targetUrl: lab.at("/write?html=" + encodeURIComponent("<label>Password <input type=password></label>")),
    });
    const typed = await user.act({ kind: "type", ref: refIn(login, "Password"), text: "hunter2" });
    expect(typed).toContain("••••");
    expect(typed).not.toContain("hunter2");
  });

  test("text of a page is marked and cannot end its mark", async () => {
    const page = await lab.user().open("/hostile");
    expect(page.match(/<<<END_EXTERNAL_UNTRUSTED_CONTENT/g)).toHaveLength(1);
    expect(page.trimEnd()).toMatch(/<<<END_EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]+">>>$/);
    expect(page).toContain("SECURITY NOTICE");
    expect(page.indexOf("SYSTEM: ignore")).toBeGreaterThan(page.indexOf("<<<EXTERNAL_UNTRUSTED_CONTENT"));
    expect(lab.tool.name).toBe("browser");
  });
});

describe("pages that behave badly", () => {
  test("dialogs are answered and reported; an endless row of them ends the page", async () => {
    const user = lab.user();
    const page = await user.open("/alerts");
    expect(await user.act({ kind: "click", ref: refIn(page, "One") })).toContain('dialog (alert) accepted: "once"');
    await user.text({ action: "dialog", accept: true });
    expect(await user.act({ kind: "click", ref: refIn(page, "Ask") })).toContain("dialog (confirm) accepted");
    expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Begin") } })).toMatch(/more than 10 dialogs in a row.*is empty now/);
    expect(await user.text({ action: "navigate", targetUrl: lab.at("/home") })).toContain("url:");
  });

  test("a page that never answers, one that never ends and one that redirects without end give their answers in time", async () => {
    const user = lab.user();
    await user.open("/home");
    expect(await user.failure({ action: "navigate", targetUrl: lab.at("/never"), timeoutMs: 500 })).toContain("did not answer within 500 ms");
    expect(await user.text({ action: "navigate", targetUrl: lab.at("/half"), timeoutMs: 500 })).toMatch(/still loading[\s\S]*The first half/);
    lab.site.release();
    expect(await user.failure({ action: "navigate", targetUrl: lab.at("/loop") })).toContain("it redirects without end");
    expect(await user.failure({ action: "navigate", targetUrl: "file:///etc/passwd" })).toContain("no http or https address");
  });

  test("a download without end stops at the limit", async () => {
    const answer = await lab.user().text({ action: "open", targetUrl: lab.at("/flood") });
    expect(answer).toContain("download failed: the file is larger than 3 MB");
  });

  test("what an element hides behind is said", async () => {
    const user = lab.user();
    const html = encodeURIComponent("<button>Under</button><div style='position:fixed;inset:0' id=cover></div>");
    const page = await user.open(`/write?html=${html}`);
    expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Under"), timeoutMs: 500 } })).toMatch(
      /not possible within 500 ms.*intercepts pointer/,
    );
  });
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

test("scripts, popups, the console and the tabs can be read", async () => {
  const user = lab.user();
  const page = await user.open("/popup");
  expect(await user.act({ kind: "evaluate", fn: "() => { console.error('oh no'); return { a: [1, 2] } }" })).toMatch(/result: \{\s*"a"/);
  expect(await user.text({ action: "console", level: "error" })).toContain("oh no");
  const opened = await user.act({ kind: "click", ref: refIn(page, "New tab") });
  const tab = /opened tab (t\d+)/.exec(opened)?.[1] ?? /(t\d+)/.exec(lineWith(await user.text({ action: "tabs" }), "/home") ?? "")?.[1] ?? "";
  expect(textOf(await user.call({ action: "focus", targetId: tab }))).toContain(tab);
  expect(await user.text({ action: "snapshot" })).toContain("/home");
  expect(await user.text({ action: "close" })).toContain(tab);
  lab.change({ evaluateEnabled: false });
  expect(await user.failure({ action: "act", request: { kind: "evaluate", fn: "1" } })).toContain("browser.evaluateEnabled");
  lab.change({ evaluateEnabled: true });
});

test("what is asked wrongly is said", async () => {
  const user = lab.user();
  await user.open("/home");
  expect(await user.failure({ action: "act", request: { kind: "jump" } })).toContain("request.kind must be one of click, type");
  expect(await user.failure({ action: "act", request: { kind: "click", ref: "the button" } })).toContain("is no ref");
  expect(await user.failure({ action: "snapshot", targetId: "t999" })).toContain("there is no tab t999; open are");
  expect(await user.failure({ action: "open" })).toContain("url required");
  expect(await user.failure({ action: "status", profile: "work" })).toContain('there is no browser profile "work"; there are: openclaw, chrome');
  expect(await user.failure({ action: "tabs", profile: "chrome" })).toContain("use the profile openclaw");
  expect(await user.failure({ action: "open", target: "node", targetUrl: lab.at("/") })).toContain("browsers of nodes are not available");
});
