/** Names that others chose: with control characters, and with characters that turn the direction of what follows. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Place } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { PAGE_PATHS } from "./harness/pages.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";
import { watch, type Watched } from "./harness/watch.ts";

/** A right-to-left override that nothing ends, an embedding, an isolate, a terminal's sequence, line ends, a bell, a tag, and letters from right to left. */
const NAMES = [
  "turned \u202Eoot-em-nrut",
  "embedded \u202Bdeddebme",
  "isolated \u2067detalosi",
  "\u001B[31mred\u001B[0m \u001B]0;title\u0007",
  "two\u2028lines\u2029or three",
  "bell\u0007 back\u0008 delete\u007F next\u0085line",
  "tag \u{E0041}\u{E0042} and joiner a\u200Db",
  "تقرير الربع الأول (2)",
] as const;
const FIRST = "agent:main:web:name-0";
/** Pages on which some of them stand without a click. */
const SHOWN: ReadonlySet<string> = new Set(["chat", "sessions", "memory", "agents"]);

async function prepare(place: Place, workspace: string): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  for (const [at, name] of NAMES.entries()) {
    const [key, sessionId] = [`agent:main:web:name-${at}`, `name-${at}`];
    await seedSession(store, [line("m0", null, said(`hello ${name} there`), 1)], key, sessionId);
    const entry = { sessionId, updatedAt: Date.now() - at * 1000, label: name, displayName: name, subject: name };
    await store.commit([["sessions.put", { key, agentId: "main", entry, version: 1 }]]);
  }
  mkdirSync(join(workspace, "memory"), { recursive: true });
  for (const name of NAMES) writeFileSync(join(workspace, "memory", `${name}.md`), `# ${name}\n\nA note.\n`);
}

interface Box {
  readonly localName: string;
  readonly textContent: string | null;
  readonly parentNode: Box | null;
  readonly host?: Box;
  readonly shadowRoot: Root | null;
}

interface Root {
  querySelectorAll(selector: string): Iterable<Box & { readonly childNodes: Iterable<{ readonly nodeType: number; readonly data?: string }> }>;
}

/** Texts of the page that share a line with a name which turns the direction, and so are shown in another order than they are written. */
const turned = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as unknown as {
      readonly document: Root;
      getComputedStyle(element: Box): { readonly unicodeBidi: string; readonly display: string };
    };
    const found: string[] = [];
    const turns = /[\u202A-\u202E\u2066-\u2069]/;
    /** What stands before and after the name itself in its line, but for what is written in one with it: a message, a path. */
    const beside = (text: string): string =>
      text.replaceAll(/(?:hello |memory\/)?(?:turned \u202Eoot-em-nrut|embedded \u202Bdeddebme|isolated \u2067detalosi)(?: there|\.md)?/g, "");
    const look = (root: Root): void => {
      for (const element of root.querySelectorAll("*")) {
        if (element.shadowRoot) look(element.shadowRoot);
        if (/^(?:style|script|title|option|textarea)$/.test(element.localName)) continue;
        if (![...element.childNodes].some(({ nodeType, data = "" }) => nodeType === 3 && turns.test(data))) continue;
        let line: Box = element;
        for (let up: Box = element; ; up = up.parentNode) {
          line = up;
          const { unicodeBidi, display } = getComputedStyle(up);
          if (display !== "inline" || /isolate|plaintext/.test(unicodeBidi) || !up.parentNode || up.parentNode.host) break;
        }
        if (/\S/.test(beside(line.textContent ?? ""))) found.push(`${line.localName}: ${(line.textContent ?? "").trim().slice(0, 120)}`);
      }
    };
    look(document);
    return found;
  });

describeInBrowser("names with control characters", () => {
  let scene: Scene;
  let page: Page;
  let watched: Watched;
  beforeAll(async () => {
    const list = [{ id: "main", default: true, name: NAMES[0] }, ...NAMES.map((name, at) => ({ id: `named-${at}`, name }))];
    scene = await openScene({ model: "mock", prepare, config: { agents: { list } } });
    const window = await scene.window();
    watched = await watch(window);
    page = await window.newPage();
    await page.goto(scene.link());
    await page.locator("oc-menu").waitFor();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test.each(PAGE_PATHS)("%s shows nothing beside them in another order", async (path) => {
    await page.goto(`${scene.url}/${path}`);
    await page.locator(`oc-${path}-page`).waitFor();
    if (SHOWN.has(path)) await page.getByText("deddebme").filter({ visible: true }).first().waitFor();
    await settled(page);
    expect([await turned(page), watched.errors]).toEqual([[], []]);
  });

  test("a conversation with such a name is found, opened, deleted and restored, and the messages about it read as they are written", async () => {
    await page.goto(`${scene.url}/chat/${encodeURIComponent(FIRST)}`);
    await page.locator("oc-transcript").getByText("oot-em-nrut").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("turned");
    await page
      .getByRole("option", { name: /turned/ })
      .first()
      .waitFor();
    expect(await turned(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More about this conversation" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const undo = page.getByRole("button", { name: "Undo", exact: true });
    await undo.waitFor();
    expect(await turned(page)).toEqual([]);
    await undo.click();
    await page.getByText("1 conversation restored").waitFor();
    expect(watched.errors).toEqual([]);
  });

  test("a note with such a name is read, and saved under it", async () => {
    await page.goto(`${scene.url}/memory?note=${encodeURIComponent(`memory/${NAMES[0]}.md`)}&edit=1`);
    const text = page.locator("oc-note-view textarea");
    await text.fill("# Changed\n");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/was saved/).waitFor();
    await settled(page);
    expect([await turned(page), watched.errors]).toEqual([[], []]);
  });

  test("a file with such a name is attached and sent", async () => {
    await page.goto(`${scene.url}/chat/${encodeURIComponent("agent:main:web:attached-name")}`);
    const name = "turned \u202Eoot-em-nrut.txt";
    await page.locator("oc-composer input[type=file]").setInputFiles([{ name, mimeType: "text/plain", buffer: Buffer.from("hello") }]);
    await page.getByRole("list", { name: "Attached" }).getByRole("listitem").waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("look");
    await page.getByRole("textbox", { name: "Message", exact: true }).press("Enter");
    await page.locator("oc-transcript").getByText("look").first().waitFor();
    await page.getByRole("group", { name: "Answer" }).first().waitFor();
    expect(watched.errors).toEqual([]);
  });
});
