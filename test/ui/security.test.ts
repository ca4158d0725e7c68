import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../harness/gateway-process.ts";
import { expectInTime } from "../harness/in-time.ts";
import { CORPUS, findLive, HOSTILE_SESSIONS, logHostile, makeHostile, openRefusingApi } from "./harness/hostile.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { PAGE_PATHS } from "./harness/pages.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";
import { watch, type Watched } from "./harness/watch.ts";
import { whenOut } from "./harness/when-out.ts";

const UI_FOLDER = join(ROOT, process.env["OPENCLAW_TEST_BUILD"] ?? "dist", "ui");

/** Pages on which some of the hostile text stands without a click. */
const SHOWN: ReadonlySet<string> = new Set(["chat", "overview", "sessions", "memory", "channels", "plugins", "logs"]);

const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const session = (key: string): string => `chat/${encodeURIComponent(key)}`;
const isOut = (page: Page): Promise<void> => page.getByRole("heading", { name: "Sign in" }).waitFor();

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

/** A page of another origin. */
const FOREIGN = "http://evil.example/";

/** The page as another version would have been built: other names of files, another version in them. */
function makeOlder(version: string, older: string): Disposable & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), "older-page-"));
  mkdirSync(join(root, "assets"));
  const names = readdirSync(join(UI_FOLDER, "assets")).filter((name) => !/\.(?:br|gz)$/.test(name));
  const renamed = (name: string): string => name.replace(/.{4}\.js$/, "0ld0.js");
  const rewrite = (from: string, to: string): void => {
    const text = names.reduce((whole, name) => whole.replaceAll(name, renamed(name)), readFileSync(join(UI_FOLDER, from), "utf8"));
    writeFileSync(join(root, to), text.replaceAll(version, older));
  };
  rewrite("index.html", "index.html");
  for (const name of names) rewrite(`assets/${name}`, `assets/${renamed(name)}`);
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true }) };
}

describeInBrowser("pages of others", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("a page of another origin can neither frame the page, nor connect with the right token, nor read or log in, even in a browser that is logged in", async () => {
    const page = await scene.open();
    await page.route(FOREIGN, (route) => route.fulfill({ contentType: "text/html", body: `<!doctype html><iframe src="${scene.url}/chat"></iframe>` }));
    await page.goto(FOREIGN);
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    expect(await framed?.locator("oc-app").count()).toBe(0);
    expect(framed?.url()).not.toContain(scene.url);
    const tried = await page.evaluate(
      async ({ url, token }) => {
        const socket = new WebSocket(url.replace("http", "ws"));
        const client = { id: "openclaw-control-ui", version: "1", platform: "web", mode: "ui" };
        const params = { minProtocol: 3, maxProtocol: 3, client, role: "operator", scopes: ["operator.admin"], auth: { token } };
        const said = await new Promise<string>((resolve) => {
          let text = "";
          socket.addEventListener("message", ({ data }) => {
            text += String(data);
            if (String(data).includes("connect.challenge")) socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
          });
          socket.addEventListener("close", ({ code, reason }) => resolve(`${text} ${code} ${reason}`));
        });
        const asked = ["chat", "__openclaw/control-ui-config.json", "__openclaw/login"].map((path) =>
          fetch(`${url}/${path}`, path.endsWith("login") ? { method: "POST", headers: { "content-type": "application/json" }, body: "{}" } : {}).then(
            () => "read",
            () => "refused",
          ),
        );
        return { said, fetched: await Promise.all(asked) };
      },
      { url: scene.url, token: scene.token },
    );
    expect(tried.fetched).toEqual(["refused", "refused", "refused"]);
    // The upgrade itself is refused: there is no socket to say anything on.
    expect(tried.said.trim()).toBe("1006");
    expect(tried.said).not.toContain("hello-ok");
    await page.context().close();
  });

  test("a browser whose token is taken away is out at once in every tab, and neither the back button nor a reload shows or does anything", async () => {
    const page = await scene.open(session("agent:main:web:rotated"));
    await say(page, "What can you do?");
    const answer = (one: Page): Locator => one.getByText("I am the built-in offline model");
    await answer(page).first().waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${scene.url}/${session("agent:main:web:rotated")}`);
    await answer(tab).first().waitFor();
    const gone = await page.context().newPage();
    await gone.goto(`${scene.url}/${session("agent:main:web:rotated")}`);
    await answer(gone).first().waitFor();
    await gone.goto("about:blank");
    const deviceId = await page.evaluate(() =>
      Object.keys(localStorage)
        .find((key) => key.includes("device-token"))
        ?.split(".")
        .at(-2),
    );
    const left = [page, tab].map(whenOut);
    const { code, stderr } = scene.cli("devices", "revoke", "--device", deviceId!, "--role", "operator");
    const ended = Date.now();
    expect(code, stderr).toBe(0);
    for (const at of left) expectInTime((await at) - ended, 1000);
    await gone.goBack();
    await isOut(gone);
    await tab.reload();
    await isOut(tab);
    for (const one of [page, tab, gone]) expect([await answer(one).count(), await one.locator("oc-menu").count(), await box(one).count()]).toEqual([0, 0, 0]);
    await page.context().close();
  });

  test("a tab of an older version says so, and loads the new page on request", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    using older = makeOlder(version, "2001.1.1");
    const page = await (await scene.window()).newPage();
    const root = (to: string): void => expect(scene.cli("config", "set", "gateway.controlUi.root", JSON.stringify(to)).code).toBe(0);
    root(older.root);
    await scene.restart("SIGTERM");
    await page.goto(scene.link());
    const old = page.getByText(`The gateway was updated to ${version}; this page is from 2001.1.1.`);
    await old.waitFor();
    root(UI_FOLDER);
    await scene.restart("SIGTERM");
    // What is asked for before it is connected again is asked for once more by itself.
    await page.getByText("Connection lost").waitFor({ state: "detached" });
    await old.waitFor();
    // Parts that the page had not loaded are no longer there: it says so instead of showing nothing, and goes on with what it has.
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor();
    await page.getByRole("link", { name: "Chat", exact: true }).click();
    await box(page).waitFor();
    await old.waitFor();
    await page.getByRole("button", { name: "Reload page" }).click();
    await box(page).waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.locator("oc-overview-page").waitFor();
    expect(await page.getByText("this page is from").count()).toBe(0);
    await page.context().close();
  });

  test("what is sent compressed is what is sent plain", () => {
    const names = readdirSync(join(UI_FOLDER, "assets")).filter((name) => /\.(?:br|gz)$/.test(name));
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) {
      const file = join(UI_FOLDER, "assets", name);
      const unpacked = (name.endsWith(".br") ? brotliDecompressSync : gunzipSync)(readFileSync(file));
      expect(unpacked.equals(readFileSync(file.replace(/\.(?:br|gz)$/, ""))), name).toBe(true);
    }
  });
});

describeInBrowser("hostile text", () => {
  let scene: Scene;
  let page: Page;
  let watched: Watched;
  let api: Awaited<ReturnType<typeof openRefusingApi>>;
  beforeAll(async () => {
    api = await openRefusingApi();
    scene = await openScene({
      model: "mock",
      prepare: makeHostile,
      gateway: { env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: api.root } },
      config: {
        channels: { telegram: { enabled: true, botToken: "7012345678:AAF-token-of-a-test-0000000000000", dmPolicy: "open", allowFrom: ["*"] } },
        plugins: { load: { paths: ["~/hostile-labels"] }, entries: { "hostile-labels": { enabled: true }, telegram: { enabled: true } } },
      },
    });
    logHostile(scene.place);
    const window = await scene.window();
    watched = await watch(window);
    page = await window.newPage();
    await page.goto(scene.link());
    await box(page).waitFor();
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  /** Nothing ran, asked elsewhere, opened, or went anywhere. */
  async function expectInert(): Promise<void> {
    expect(await findLive(page)).toEqual([]);
    expect({ errors: watched.errors, dialogs: watched.dialogs, foreign: watched.foreign(scene.url), tabs: page.context().pages().length }).toEqual({
      errors: [],
      dialogs: [],
      foreign: [],
      tabs: 1,
    });
    expect(page.url().startsWith(scene.url)).toBe(true);
  }

  test("the corpus of messages and answers, and of names of conversations, is shown and does nothing", async () => {
    for (const key of HOSTILE_SESSIONS) {
      await page.goto(`${scene.url}/${session(key)}`);
      await page.locator("oc-transcript").getByText(/./).first().waitFor();
      await settled(page);
      await expectInert();
    }
    expect(await page.locator("oc-chat-sidebar").getByText("window.__pwned").count()).toBeGreaterThan(0);
  });

  test("an answer, a tool's output and the name of an attached file, as they come in", async () => {
    await page.goto(`${scene.url}/${session("agent:main:web:live")}`);
    await say(page, `@say=${CORPUS.slice(0, 30).join(" ").replaceAll("\n", "\\n")} the-end-of-it`);
    await page.locator("oc-transcript").getByText("the-end-of-it").last().waitFor();
    await expectInert();
    await say(page, 'read it @tool=read @args={"path":"corpus.txt"}');
    await page.locator("oc-transcript").getByText("w3").last().waitFor();
    await page
      .locator("oc-transcript")
      .getByRole("button", { name: /1 step/ })
      .last()
      .click();
    await page
      .locator("oc-transcript")
      .getByRole("button", { name: /Read corpus/ })
      .first()
      .click();
    await expectInert();
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles(
        CORPUS.slice(0, 6).map((name) => ({
          name: `${name.replaceAll("/", "_").replaceAll("\n", "_")}.txt`,
          mimeType: "text/plain",
          buffer: Buffer.from(name),
        })),
      );
    await page.getByText("onerror=window.__pwned").first().waitFor();
    await say(page, "with files");
    await page.locator("oc-transcript").getByText("with files").waitFor();
    await expectInert();
  });

  test("notes, results of a search with their reasons, and both versions of a note that changed meanwhile", async () => {
    const name = "memory/<img src=x onerror=window.__pwned=1>.md";
    await page.goto(`${scene.url}/memory?note=${encodeURIComponent(name)}`);
    await page.locator("oc-note-view article").getByText("__pwned").first().waitFor();
    await expectInert();
    await page.getByRole("searchbox", { name: "Search memory" }).fill("<img src=x onerror=window.__pwned=1> script");
    const results = page.locator("oc-memory-results");
    await results.getByText("__pwned").first().waitFor();
    for (const why of await results.getByRole("button", { name: /^Why/ }).all()) await why.click();
    await settled(page);
    await expectInert();
    await page.goto(`${scene.url}/memory?note=${encodeURIComponent(name)}&edit=1`);
    const editor = page.getByRole("textbox", { name: `Text of ${name}` });
    await editor.fill(CORPUS.slice(0, 10).join("\n"));
    writeFileSync(join(scene.workspace, name), CORPUS.slice(10, 20).join("\n"));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("dialog").getByText("__pwned").first().waitFor();
    await expectInert();
    await page.getByRole("button", { name: "Use saved version" }).click();
    await editor.waitFor({ state: "detached" });
  });

  test.each(PAGE_PATHS)("%s shows what is in the gateway as text, without a complaint of the browser", async (path) => {
    await page.goto(`${scene.url}/${path}`);
    await page.locator(`oc-${path}-page`).waitFor();
    if (SHOWN.has(path)) await page.getByText("__pwned").filter({ visible: true }).first().waitFor();
    await settled(page);
    await expectInert();
  });
});
