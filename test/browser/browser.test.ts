import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokensOfChars, view } from "../../src/sessions/index.ts";
import type { Tab } from "../../src/browser/tab.ts";
import { openLab, refIn, textOf, type Lab } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ maxDownloadBytes: 3 * 1024 * 1024 });
});
afterAll(() => lab[Symbol.asyncDispose]());

const tokens = (text: string): number => tokensOfChars(text.length);

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
    for (const result of results) expect(tokens(result)).toBeLessThan(500);
  });

  test("a form is filled and sent in one call; where it has no button Enter sends it", async () => {
    const user = lab.user();
    const act = (request: Readonly<Record<string, unknown>>): Promise<string> => user.text({ action: "act", request });
    const order = await user.text({ action: "open", targetUrl: lab.at("/order") });
    const fields = [
      { ref: refIn(order, "Name"), value: "Ada" },
      { ref: refIn(order, "Gift"), value: true },
      { ref: refIn(order, "Size"), value: "Large" },
    ];
    expect(await act({ kind: "fill", fields, submit: true })).toContain("name=Ada, amount=, size=Large, gift=on");
    const search = await user.text({ action: "navigate", targetUrl: lab.at("/search") });
    await act({ kind: "evaluate", fn: "() => document.querySelector('form button').remove()" });
    const found = await act({ kind: "fill", fields: [{ ref: refIn(search, "Find"), value: "chair" }], submit: true });
    expect(found).toContain("Green chair");
  });

  test("pages that are left behind leave the model's context", async () => {
    const user = lab.user();
    const entries: object[] = [];
    const add = (message: object): void => {
      entries.push({ type: "message", id: `e${entries.length}`, parentId: entries.length === 0 ? null : `e${entries.length - 1}`, message });
    };
    const model = { provider: "p", id: "m", contextWindow: 200_000 };
    const prompts: number[] = [];
    let whole = 0;
    add({ role: "user", content: "look at ten pages" });
    for (let step = 0; step < 10; step += 1) {
      const params = { action: step === 0 ? "open" : "navigate", targetUrl: lab.at(`/large?rows=${80 + step}`) };
      const { content, details } = await user.call(params);
      add({ role: "assistant", content: [{ type: "toolCall", id: `c${step}`, name: "browser", arguments: params }], stopReason: "toolUse" });
      add({ role: "toolResult", toolCallId: `c${step}`, toolName: "browser", content, details });
      prompts.push(view({ entries, model, now: 0 }).estimate);
      whole += tokens(JSON.stringify(content));
    }
    const last = view({ entries, model, now: 0 });
    expect(last.dropped.replaced).toBeGreaterThanOrEqual(6);
    expect(last.estimate).toBeLessThan(whole / 2);
    expect(prompts.reduce((sum, count) => sum + count, 0)).toBeLessThan(70_000);
    expect(JSON.stringify(last.messages.at(-1))).toContain("Item number 8");
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
    expect(await user.failure({ action: "act", request: { kind: "click", ref: chair } })).toContain(`${chair} is no longer on the page`);
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
    expect(await user.failure({ action: "navigate", targetUrl: lab.at("/loop") })).toContain("it redirects in a loop");
    expect(await user.failure({ action: "navigate", targetUrl: "file:///etc/passwd" })).toContain("is not an http or https URL");
  });

  test("what an element hides behind is said", async () => {
    const user = lab.user();
    const html = encodeURIComponent("<button>Under</button><div style='position:fixed;inset:0' id=cover></div>");
    const page = await user.open(`/write?html=${html}`);
    expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Under"), timeoutMs: 3000 } })).toMatch(
      /not possible within 3000 ms.*intercepts pointer/,
    );
  });
});

test("scripts, popups, the console and the tabs can be read", async () => {
  const user = lab.user();
  const page = await user.open("/popup");
  expect(await user.act({ kind: "evaluate", fn: "() => { console.error('oh no'); return { a: [1, 2] } }" })).toMatch(/result: \{\s*"a"/);
  expect(await user.text({ action: "console", level: "error" })).toContain("oh no");
  const tabs = (): readonly Tab[] => lab.opened.browser.session().tabs();
  const before = new Set(tabs());
  await user.act({ kind: "click", ref: refIn(page, "New tab") });
  const popup = (): Tab | undefined => tabs().find((one) => !before.has(one));
  await expect.poll(() => popup()?.url).toContain("/home");
  const tab = popup()?.id ?? "";
  expect(textOf(await user.call({ action: "focus", targetId: tab }))).toContain(tab);
  expect(await user.text({ action: "snapshot" })).toContain("/home");
  expect(await user.text({ action: "close" })).toContain(tab);
});

test("profiles are added to the configuration and removed with what they stored, by those who may change it", async () => {
  const work = { ok: true, profile: "work", cdpPort: 18_800, cdpUrl: null, color: "#0066CC", isRemote: false };
  await expect(lab.request("POST", "/profiles/create", { name: "work" }, { mayConfigure: false })).rejects.toThrow("operator.admin");
  expect(await lab.request("POST", "/profiles/create", { name: "work", color: "#0066CC" })).toEqual(work);
  expect(await lab.request("POST", "/profiles/create", { name: "own", cdpUrl: "http://127.0.0.1:9222" })).toMatchObject({ isRemote: true, cdpPort: null });
  expect(await lab.request("POST", "/profiles/create", { name: "mine", driver: "extension" })).toMatchObject({ cdpUrl: "http://127.0.0.1:18792" });
  const written = JSON.parse(readFileSync(lab.config.paths.file, "utf8")) as { readonly browser: { readonly profiles: object } };
  expect(written.browser.profiles).toMatchObject({ work: { cdpPort: 18_800, color: "#0066CC" }, mine: { driver: "extension" } });
  await expect(lab.request("POST", "/profiles/create", { name: "work" })).rejects.toThrow("already");
  await lab.change({ profiles: { odd: { color: "#00AA00", cdpUrl: "nonsense" } } });
  expect(await lab.request("POST", "/profiles/create", { name: "more" })).toMatchObject({ cdpPort: 18_801 });
  await expect(lab.request("POST", "/reset-profile", { profile: "more" }, { mayConfigure: false })).rejects.toThrow("operator.admin");
  for (const name of ["odd", "more"]) await lab.request("DELETE", `/profiles/${name}`);
  await expect(lab.request("POST", "/profiles/create", { name: "../x" })).rejects.toThrow("is not a valid profile name");
  await expect(lab.request("POST", "/profiles/create", { name: "x", cdpUrl: "file:///etc" })).rejects.toThrow("is not an http or ws URL");
  const folder = join(lab.state, "browser", "work");
  mkdirSync(join(folder, "user-data"), { recursive: true });
  await expect(lab.request("DELETE", "/profiles/work", {}, { mayConfigure: false })).rejects.toThrow("operator.admin");
  for (const name of ["work", "own", "mine"]) expect(await lab.request("DELETE", `/profiles/${name}`)).toEqual({ ok: true, profile: name, deleted: true });
  expect(existsSync(folder)).toBe(false);
  await expect(lab.request("DELETE", "/profiles/work")).rejects.toThrow('no browser profile "work"');
  await expect(lab.request("DELETE", "/profiles/openclaw")).rejects.toThrow("is built in");
});

test("what a browser does is recorded between trace start and stop", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  await expect(lab.request("POST", "/trace/stop")).rejects.toThrow("no trace is being recorded");
  expect(await lab.request("POST", "/trace/start")).toEqual({ ok: true, profile: "openclaw" });
  await expect(lab.request("POST", "/trace/start")).rejects.toThrow("stop it first");
  await user.act({ kind: "hover", ref: refIn(page, "Send order") });
  const { path } = (await lab.request("POST", "/trace/stop")) as { readonly path: string };
  expect(path).toContain(join(lab.state, "media", "browser"));
  expect(readFileSync(path).subarray(0, 2).toString()).toBe("PK");
  expect(existsSync(join(lab.state, "browser", "openclaw", "traces")), "its parts hold what was typed").toBe(false);
  await lab.request("POST", "/trace/start");
  expect(await lab.request("POST", "/trace/stop")).toMatchObject({ ok: true });
  expect(await lab.request("POST", "/highlight", { ref: refIn(page, "Send order"), targetId: /tab (t\d+)/.exec(page)?.[1] })).toMatchObject({ ok: true });
});

test("the browser of a node answers as the one here does, as far as the node shares it", async () => {
  const user = lab.user();
  const there = (params: Readonly<Record<string, unknown>>) => user.call({ ...params, target: "node" });
  const opened = textOf(await there({ action: "open", targetUrl: lab.at("/order") }));
  expect(opened).toMatch(/EXTERNAL_UNTRUSTED_CONTENT[\s\S]*Send order/);
  const typed = await there({ action: "act", request: { kind: "type", ref: refIn(opened, '"Name"'), text: "Ada" } });
  expect(textOf(typed)).toMatch(/~ textbox "Name".*Ada/);
  expect(typed.details).toMatchObject({ page: { key: expect.stringMatching(/^node:n1::t\d+$/), whole: false } });
  const { content } = await there({ action: "screenshot" });
  const path = /MEDIA:(.*)/.exec(textOf({ content } as never))?.[1] ?? "";
  expect(readFileSync(path).toString("base64")).toBe(content.flatMap((part) => (part.type === "image" ? [part.data] : []))[0]);
  expect(textOf(await there({ action: "tabs" }))).toContain("/order");
  expect(textOf(await there({ action: "close" }))).toContain('"ok"');
  expect(await user.failure({ action: "tabs", target: "node", profile: "work" })).toContain("allowProfiles does not name it");
  await lab.change({ evaluateEnabled: false });
  expect(await user.failure({ action: "act", target: "node", request: { kind: "evaluate", fn: "1" } })).toContain("browser.evaluateEnabled");
  await lab.change({ evaluateEnabled: true });
  const signal = new AbortController().signal;
  const off = lab.lazy.proxy({ method: "GET", path: "/" }, signal, () => ({ enabled: false }));
  await expect(off).rejects.toThrow("nodeHost.browserProxy.enabled is false");
  const elsewhere = lab.lazy.proxy({ method: "POST", path: "/profiles/create", body: { name: "x" } }, signal, () => ({}));
  await expect(elsewhere).rejects.toThrow("operator.admin");
});

test("what is asked wrongly is said", async () => {
  const user = lab.user();
  await user.open("/home");
  expect(await user.failure({ action: "act", request: { kind: "jump" } })).toContain("request.kind must be one of click, type");
  expect(await user.failure({ action: "act", request: { kind: "click", ref: "the button" } })).toContain("is not a ref");
  expect(await user.failure({ action: "snapshot", targetId: "t999" })).toContain("there is no tab t999; open tabs:");
  expect(await user.failure({ action: "open" })).toContain("targetUrl required");
  expect(await user.failure({ action: "status", profile: "work" })).toContain('there is no browser profile "work"; there are: openclaw, chrome');
  expect(await user.failure({ action: "open", target: "moon", targetUrl: lab.at("/") })).toContain("target must be host, sandbox or node");
  expect(await user.failure({ action: "open", target: "host", node: "n1", targetUrl: lab.at("/") })).toContain("node requires target");
});
