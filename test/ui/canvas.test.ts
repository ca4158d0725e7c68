/** The canvas beside the chat, in a browser: what agents show there, what users do there, and what a hostile page there cannot do. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPage } from "../harness/docs-page.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:canvas-${name}`)}`;
const frame = (page: Page): FrameLocator => page.frameLocator('iframe[title="Canvas"]');
const answers = (page: Page): Locator => page.locator("oc-transcript .prose");

const lines = (...messages: readonly object[]): string => messages.map((message) => JSON.stringify(message)).join("\n");
const FORM = lines(
  {
    surfaceUpdate: {
      surfaceId: "main",
      components: [
        { id: "all", component: { Column: { children: { explicitList: ["title", "name", "go"] } } } },
        { id: "title", component: { Text: { text: { literalString: "Book a table" }, usageHint: "h2" } } },
        { id: "name", component: { TextField: { label: { literalString: "Name" }, text: { path: "/name", literalString: "Ada" } } } },
        {
          id: "go",
          component: { Button: { child: "go-text", primary: true, action: { name: "book", context: [{ key: "name", value: { path: "/name" } }] } } },
        },
        { id: "go-text", component: { Text: { text: { literalString: "Book" } } } },
      ],
    },
  },
  { beginRendering: { surfaceId: "main", root: "all" } },
);

describeInBrowser("the canvas", () => {
  let scene: Scene;
  let page: Page;
  const asked: string[] = [];
  const elsewhere = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("foreign");
  });
  const foreign = (): string => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;

  beforeAll(async () => {
    elsewhere.listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    scene = await openScene({ model: "mock", config: { tools: { profile: "full" } } });
    mkdirSync(join(scene.place.stateDir, "canvas", "sub"), { recursive: true });
    page = await scene.open(session("first"));
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    elsewhere.closeAllConnections();
    elsewhere.close();
  });

  const canvasFile = (name: string, content: string): void => writeFileSync(join(scene.place.stateDir, "canvas", name), content);
  /** The model calls the tool; its outcome is what it answers. */
  async function call(args: object, said: string): Promise<void> {
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify([{ tool: "canvas", args: JSON.stringify(args) }, { say: said }]) });
    const box = page.getByRole("textbox", { name: "Message", exact: true });
    await box.fill("show it");
    await box.press("Enter");
    await answers(page).getByText(said, { exact: true }).waitFor();
  }
  const last = async (): Promise<string> => (await fetch(`${scene.modelUrl}/last`)).text();

  test("an agent presents a page, runs a script in it, takes its picture and hides it", async () => {
    canvasFile("hello.html", "<!doctype html><title>t</title><body style='background:#0a0'><h1 id=h>Hello canvas</h1><script>window.answer = 42</script>");
    await call({ action: "present", url: "hello.html" }, "presented-1");
    await frame(page).getByRole("heading", { name: "Hello canvas" }).waitFor();
    await call({ action: "eval", javaScript: "document.querySelector('#h').textContent + ' ' + window.answer" }, "evaluated-1");
    expect(await last()).toMatch(/EXTERNAL_UNTRUSTED_CONTENT[^]*Hello canvas 42/);
    await call({ action: "eval", javaScript: "nothing.there" }, "evaluated-2");
    expect(await last()).toContain("nothing is not defined");
    await call({ action: "snapshot", outputFormat: "png", maxWidth: 200 }, "snapped-1");
    expect(await last()).toMatch(/Picture 200×\d+|data:image\/png;base64,iVBOR/);
    await call({ action: "present", url: "https://example.com/" }, "refused-1");
    expect(await last()).toContain("the canvas of the Control UI shows files of the canvas folder and A2UI, not");
    // A changed file is shown without being asked for.
    canvasFile("hello.html", "<!doctype html><h1>Hello again</h1>");
    await frame(page).getByRole("heading", { name: "Hello again" }).waitFor();
    await page.reload();
    await frame(page).getByRole("heading", { name: "Hello again" }).waitFor();
    await call({ action: "hide" }, "hidden-1");
    await page.locator('iframe[title="Canvas"]').waitFor({ state: "detached" });
  });

  test("A2UI is drawn, what the user types and clicks comes back into the session, and a bad push names its line and changes nothing", async () => {
    await call({ action: "a2ui_push", jsonl: FORM }, "pushed-1");
    await frame(page).getByRole("heading", { name: "Book a table" }).waitFor();
    await call({ action: "a2ui_push", jsonl: `${lines({ deleteSurface: { surfaceId: "main" } })}\n{"surfaceUpdate": {}}` }, "pushed-2");
    expect(await last()).toContain("line 2: surfaceUpdate.surfaceId: expected a text, got nothing");
    await frame(page).getByLabel("Name").fill("Grace");
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify([{ say: "booked-1" }]) });
    await frame(page).getByRole("button", { name: "Book" }).click();
    await answers(page).getByText("booked-1", { exact: true }).waitFor();
    const request = await last();
    expect(request).toContain("CANVAS_A2UI action=book session=agent:main:web:canvas-first surface=main component=go default=update_canvas");
    expect(request).toMatch(/EXTERNAL_UNTRUSTED_CONTENT[^]*Grace/);
    // 0.9 goes into the same model, and what was typed stays.
    await call(
      {
        action: "a2ui_push",
        jsonl: lines(
          {
            version: "v0.9",
            updateComponents: { surfaceId: "main", components: [{ id: "title", component: "Text", text: { path: "/title" }, variant: "h2" }] },
          },
          { version: "v1.0", updateDataModel: { surfaceId: "main", path: "/title", value: "Thank you" } },
        ),
      },
      "pushed-3",
    );
    await frame(page).getByRole("heading", { name: "Thank you" }).waitFor();
    expect(await frame(page).getByLabel("Name").inputValue()).toBe("Grace");
    await page.reload();
    await frame(page).getByRole("heading", { name: "Thank you" }).waitFor();
    await call({ action: "a2ui_reset" }, "reset-1");
    await frame(page).getByText("Nothing to show yet").waitFor();
    await page.getByRole("button", { name: "Close canvas" }).click();
    await page.locator('iframe[title="Canvas"]').waitFor({ state: "detached" });
  });

  test("a hostile page reads no token and no storage, calls no method, goes nowhere, loads nothing from elsewhere and does not speak for the user", async () => {
    const own = scene.url;
    canvasFile(
      "hostile.html",
      `<!doctype html><img src="${foreign()}/image"><link rel=stylesheet href="${foreign()}/style"><script src="${foreign()}/script"></script>
      <iframe src="${own}/"></iframe><form id=f action="${foreign()}/form" method=post></form>
      <script>
      window.got = [location.href, document.referrer, window.name];
      addEventListener("message", ({ data }) => got.push(data));
      const tried = {};
      const attempt = async (name, work) => { try { tried[name] = String(await Promise.race([work(), new Promise((resolve) => setTimeout(resolve, 3000, "no answer"))])); } catch (error) { tried[name] = "refused"; } };
      const socket = (url) => new Promise((resolve, reject) => { const s = new WebSocket(url); s.onopen = () => resolve("open"); s.onerror = () => reject(new Error("no")); });
      window.done = (async () => {
        await attempt("localStorage", () => JSON.stringify(localStorage));
        await attempt("sessionStorage", () => JSON.stringify(sessionStorage));
        await attempt("cookie", () => document.cookie);
        await attempt("indexedDB", () => indexedDB.open("x") && "opened");
        await attempt("parentStorage", () => JSON.stringify(parent.localStorage));
        await attempt("parentDocument", () => parent.document.body.innerHTML);
        await attempt("parentLocation", () => parent.location.href);
        await attempt("top", () => { top.location.href = "${foreign()}/top"; return "went"; });
        await attempt("popup", () => (window.open("${foreign()}/popup") ? "opened" : Promise.reject(new Error("no"))));
        await attempt("fetchForeign", () => fetch("${foreign()}/fetch").then((r) => r.text()));
        await attempt("fetchGateway", () => fetch("${own}/__openclaw/control-ui-config.json").then((r) => r.text()));
        await attempt("invoke", () => fetch("${own}/tools/invoke", { method: "POST", body: "{}" }).then((r) => r.text()));
        await attempt("socketGateway", () => socket("${own.replace("http", "ws")}/"));
        await attempt("socketForeign", () => socket("${foreign().replace("http", "ws")}/"));
        await attempt("beacon", () => (navigator.sendBeacon("${foreign()}/beacon", "x") ? "queued" : Promise.reject(new Error("no"))));
        await attempt("worker", () => new Promise((resolve, reject) => { const w = new Worker("${foreign()}/worker"); w.onmessage = () => resolve("ran"); w.onerror = () => reject(new Error("no")); }));
        OpenClaw.sendUserAction({ name: "not-by-the-user" });
        parent.postMessage({ openclaw: "action", action: { name: "not-by-the-user" } }, "*");
        return JSON.stringify(tried);
      })();
      </script>`,
    );
    await call({ action: "present", url: "hostile.html" }, "hostile-1");
    await call({ action: "eval", javaScript: "window.done" }, "hostile-2");
    const result = /\{\\+"localStorage[^}]*\}/.exec(await last())?.[0].replaceAll("\\", "") ?? "{}";
    const tried = JSON.parse(result) as Record<string, string>;
    const { top, beacon, ...others } = tried;
    expect([...new Set(Object.values(others))].filter((outcome) => outcome !== "")).toEqual(["refused"]);
    expect(Object.keys(others).length).toBeGreaterThan(12);
    const shown = page.locator('iframe[title="Canvas"]');
    expect([await shown.getAttribute("sandbox"), await shown.getAttribute("referrerpolicy")]).toEqual(["allow-scripts allow-forms", "no-referrer"]);
    await call({ action: "eval", javaScript: "JSON.stringify(got)" }, "hostile-3");
    expect(await last()).toContain("window.done");
    expect(await last()).not.toContain(scene.token);
    // Neither says whether it worked: what counts is that nobody was asked.
    expect([top, beacon]).not.toContain("no answer");
    expect(page.url().startsWith(scene.url)).toBe(true);
    expect(page.context().pages()).toHaveLength(1);
    // It cannot take its frame elsewhere, or send a form: the frame is empty then.
    for (const [at, code] of [`location.href = "${foreign()}/frame"`, 'document.querySelector("#f").submit()'].entries()) {
      await call({ action: "present", url: `hostile.html?${at}` }, `hostile-again-${at}`);
      await call({ action: "eval", javaScript: `setTimeout(() => { ${code} }); "left"` }, `hostile-left-${at}`);
      await expect.poll(() => page.frames().map((one) => one.url())).toContain("chrome-error://chromewebdata/");
    }
    expect(asked).toEqual([]);
    expect(await page.locator("oc-transcript").getByText("not-by-the-user").count()).toBe(0);
  });

  test("only the document in the frame is heard, and only after a click in it", async () => {
    const said = (name: string): Locator => page.locator("oc-transcript").getByText(`action=${name}`);
    canvasFile("clicked.html", "<button onclick=\"OpenClaw.sendUserAction({ name: 'by-the-user' })\">Press</button>");
    await call({ action: "present", url: "clicked.html" }, "clicked-1");
    await call({ action: "eval", javaScript: "OpenClaw.sendUserAction({ name: 'by-itself' })" }, "clicked-2");
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify([{ say: "pressed-1" }]) });
    await frame(page).getByRole("button", { name: "Press" }).click();
    // The user is still at it, but this comes from elsewhere.
    await page.evaluate('postMessage({ openclaw: "action", action: { name: "by-another-window" } }, "*")');
    await answers(page).getByText("pressed-1", { exact: true }).waitFor();
    await call({ action: "hide" }, "clicked-3");
    expect([await said("by-the-user").count(), await said("by-itself").count(), await said("by-another-window").count()]).toEqual([1, 0, 0]);
  });

  test("the example of the documentation works from the command line, as do the other commands", async () => {
    const example = readPage("docs/canvas/overview.md").blocks.find(({ language }) => language === "jsonl")!.text;
    const file = join(scene.place.home, "order.jsonl");
    writeFileSync(file, example);
    const canvas = (...args: string[]) => scene.cli("nodes", "canvas", ...args, "--session", "agent:main:web:canvas-first");
    expect(canvas("a2ui", "push", "--jsonl", file)).toMatchObject({ code: 0, stdout: "Pushed\n" });
    await frame(page).getByRole("heading", { name: "Your order" }).waitFor();
    expect(await frame(page).getByLabel("Name").inputValue()).toBe("Ada");
    expect(canvas("eval", "document.querySelector('.h2').textContent").stdout).toBe("Your order\n");
    const picture = canvas("snapshot", "--format", "png", "--out", join(scene.place.home, "shot.png"));
    expect([picture.code, readFileSync(join(scene.place.home, "shot.png")).subarray(1, 4).toString()]).toEqual([0, "PNG"]);
    writeFileSync(file, '{"deleteSurface":{"surfaceId":"order"}}\n{"nonsense":{}}');
    expect(canvas("a2ui", "push", "--jsonl", file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("line 2: message: expected exactly one of beginRendering"),
    });
    expect(canvas("a2ui", "push", "--text", "Plain words").code).toBe(0);
    await frame(page).getByText("Plain words").waitFor();
    expect([canvas("a2ui", "reset").code, canvas("hide").code]).toEqual([0, 0]);
    await page.locator('iframe[title="Canvas"]').waitFor({ state: "detached" });
    expect(scene.cli("nodes", "canvas", "present", "--session", "agent:main:web:nobody-there")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no page shows this conversation"),
    });
  });

  test("files outside the canvas folder, hidden ones and links out of it are not served, and a wrong or old capability opens nothing", async () => {
    writeFileSync(join(scene.place.home, "secret.html"), "secret");
    symlinkSync(join(scene.place.home, "secret.html"), join(scene.place.stateDir, "canvas", "link.html"));
    canvasFile(".hidden.html", "hidden");
    canvasFile("plain.html", "plain");
    const bearer = { authorization: `Bearer ${scene.token}` };
    const status = async (path: string, headers: Record<string, string> = bearer): Promise<number> =>
      (await fetch(`${scene.url}${path}`, { headers, redirect: "manual" })).status;
    expect(await status("/__openclaw__/canvas/plain.html")).toBe(200);
    for (const path of [
      "link.html",
      ".hidden.html",
      "no-such.html",
      "sub",
      "%2e%2e/openclaw.json",
      "..%2fopenclaw.json",
      "%252e%252e/openclaw.json",
      "....//x.html",
      "sub/..;/x.html",
    ])
      expect([path, [400, 404].includes(await status(`/__openclaw__/canvas/${path}`))]).toEqual([path, true]);
    for (const path of [
      "canvas/plain.html",
      "a2ui/",
      "a2ui/a2ui.js",
      "cap/0000000000000000000000000000/__openclaw__/canvas/plain.html",
      "canvas/plain.html?oc_cap=0000000000000000000000000",
    ])
      expect([path, await status(`/__openclaw__/${path}`, {})]).toEqual([path, 401]);
    const src = async (): Promise<string> => new URL((await page.locator('iframe[title="Canvas"]').getAttribute("src"))!).pathname;
    await call({ action: "present", url: "plain.html" }, "plain-1");
    await frame(page).getByText("plain").waitFor();
    const path = await src();
    expect(await status(path, {})).toBe(200);
    await page.reload();
    await frame(page).getByText("plain").waitFor();
    await expect.poll(() => status(path, {})).toBe(401);
  });
});
