import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Place } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { PAGE_PATHS } from "./harness/pages.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

const KEY = "agent:main:web:wide";
const TITLE = "A title that goes on and on ".repeat(12).slice(0, 300);
const WORD = "Donaudampfschifffahrt".repeat(20).slice(0, 400);
const FILE = `${"a-very-long-name-of-a-file-".repeat(8)}.bin`;
const TABLE = [
  `| ${Array.from({ length: 20 }, (_, at) => `Column ${at}`).join(" | ")} |`,
  `|${" --- |".repeat(20)}`,
  `|${` ${"value".repeat(3)} |`.repeat(20)}`,
].join("\n");

const answer = (content: readonly object[], more: object = {}) => ({
  message: { role: "assistant", content, provider: "p", model: "m", stopReason: "stop", ...more },
});
const text = (words: string) => ({ type: "text", text: words });

/** A conversation with everything that is wider than a window. */
async function seed(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  const call = { type: "toolCall", id: "t1", name: "read", arguments: { path: `/srv/${FILE}` } };
  const lines = [
    line("a", null, said(`${WORD} and\nhttps://example.org/${"path/".repeat(60)}`), 1),
    line(
      "b",
      "a",
      answer([text(`# ${WORD}\n\n${WORD}\n\n\`${WORD}\`\n\n- ${WORD}\n\n> ${WORD}\n\n${TABLE}\n\n\`\`\`sh\n${WORD}\n\`\`\``), call], { stopReason: "toolUse" }),
      2,
    ),
    line("c", "b", { message: { role: "toolResult", toolCallId: "t1", toolName: "read", isError: false, content: [text(WORD)] } }, 3),
    line("d", "c", answer([], { stopReason: "error", errorMessage: `it broke: ${WORD}` }), 4),
  ];
  await seedSession(store, lines, KEY);
  await store.commit([["sessions.patch", { key: KEY, patch: { displayName: TITLE } }]]);
}

interface Box {
  readonly localName: string;
  readonly className: unknown;
  readonly shadowRoot: { readonly children: Iterable<Box> } | null;
  readonly children: Iterable<Box>;
  getBoundingClientRect(): { readonly left: number; readonly right: number; readonly width: number };
}

/** What reaches past the window, but for what scrolls in a frame of its own or ends in an ellipsis. */
const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { document, innerWidth, getComputedStyle } = globalThis as unknown as {
      readonly document: { readonly body: Box };
      readonly innerWidth: number;
      getComputedStyle(element: Box): { readonly textOverflow: string; readonly clipPath: string };
    };
    const found: string[] = [];
    const look = (element: Box): void => {
      // The link that skips the menu stands outside until it has the focus.
      if (String(element.className).startsWith("skip")) return;
      const { left, right, width } = element.getBoundingClientRect();
      if (width > 0 && (right > innerWidth + 1 || left < -1)) found.push(`${element.localName}.${String(element.className)} ${left}..${right}`);
      const { textOverflow, clipPath } = getComputedStyle(element);
      const own = element.localName === "pre" || element.localName === "svg" || String(element.className).split(" ").includes("scroll");
      if (own || textOverflow === "ellipsis" || clipPath !== "none") return;
      for (const child of element.children) look(child);
      for (const child of element.shadowRoot?.children ?? []) look(child);
    };
    look(document.body);
    return found;
  });

describeInBrowser("a conversation with long words, wide tables and a long title", () => {
  let scene: Scene;
  let page: Page;
  beforeAll(async () => {
    scene = await openScene({ prepare: seed });
    page = await scene.open(`chat/${encodeURIComponent(KEY)}`);
    await page.getByRole("heading", { name: /^A title that goes on/ }).waitFor();
    await page.locator("oc-composer input[type=file]").setInputFiles([{ name: FILE, mimeType: "application/octet-stream", buffer: Buffer.alloc(2000, 7) }]);
    await page.getByRole("list", { name: "Attached" }).getByRole("listitem").waitFor();
    await page.getByRole("button", { name: /^Read/ }).click();
    await page.getByRole("group", { name: "Arguments" }).waitFor();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test.for([1280, 1000, 390])("stays within a window of %i pixels", async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await settled(page);
    expect(await tooWide(page)).toEqual([]);
    for (const name of ["Send", "More about this conversation"]) {
      const box = await page.getByRole("button", { name, exact: true }).boundingBox();
      expect(box!.x + box!.width).toBeLessThanOrEqual(width);
    }
  });

  test("every other page stays within a phone", async () => {
    const phone = await scene.open("overview", { viewport: { width: 390, height: 844 } });
    const paths = ["overview", "trace", "sessions", "jobs", "subagents", "channels", "agents", "plugins", "devices", "config", "logs", "start"];
    for (const path of [...paths, "approvals", "approvals/rules", "approvals/history", "usage", "security", "backups", "update"]) {
      await phone.goto(`${scene.url}/${path}`);
      await settled(phone);
      expect(await tooWide(phone), path).toEqual([]);
    }
  });

  test("what is long scrolls inside of its page: the window itself never scrolls", async () => {
    const page = await scene.open("overview", { viewport: { width: 1280, height: 720 } });
    for (const path of PAGE_PATHS) {
      await page.goto(`${scene.url}/${path}`);
      await settled(page);
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      const [beyond, scrolled] = await page.evaluate<[number, number]>("[document.documentElement.scrollHeight - innerHeight, scrollY]");
      expect([path, beyond <= 0, scrolled]).toEqual([path, true, 0]);
    }
  });

  test("on a phone, More in the list of chats leads to the other pages", async () => {
    const phone = await scene.open(`chat/${encodeURIComponent(KEY)}`, { viewport: { width: 390, height: 844 } });
    await phone.getByRole("button", { name: "Show conversations" }).click();
    await phone.getByRole("dialog", { name: "Conversations" }).getByRole("button", { name: "More", exact: true }).click();
    await phone.getByRole("dialog", { name: "More pages" }).getByRole("link", { name: "Approvals" }).click();
    await phone.waitForURL(/\/approvals$/);
    await phone.getByRole("heading", { name: "Approvals" }).waitFor();
  });
});
