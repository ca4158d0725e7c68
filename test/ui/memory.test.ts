import axe from "axe-core";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { choose } from "./harness/choose.ts";
import { openFlawed } from "./harness/flawed.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

const TRIP = "agent:main:web:trip";
const MEMORY = "# People\n\n## Food\n\n- Jonas is allergic to walnuts. Almonds are fine.\n- Mara does not eat meat on Fridays.\n";
const answered = (text: string) => ({ message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" } });

/** Talk that fills a transcript, so that what is looked for has scrolled away. */
const filler = Array.from({ length: 60 }, (_, at) =>
  line(`f${at}`, at === 0 ? "m2" : `f${at - 1}`, said(`About paint, part ${at}: blue or green for the fence?`), 5000 + at),
);

const NOTES: Readonly<Record<string, string>> = {
  "MEMORY.md": MEMORY,
  "memory/2026-11-02.md": "## Balcony\n\nTwo boxes planted, basil and parsley.\n",
  "memory/2026-10-30-trip.md": "## Trieste\n\nTable for four at the trattoria.\n",
  "memory/recipes.md": "# Recipes\n\nWalnut bread.\n",
  "memory/binary.md": "a\0b",
};

/** The notes as every test finds them. */
function writeNotes(workspace: string): void {
  rmSync(join(workspace, "memory"), { recursive: true, force: true });
  mkdirSync(join(workspace, "memory"), { recursive: true });
  for (const [name, text] of Object.entries(NOTES)) writeFileSync(join(workspace, name), text);
}

describeInBrowser("the memory page", () => {
  let scene: Scene;
  beforeEach(() => writeNotes(scene.workspace));
  beforeAll(async () => {
    scene = await openScene({
      model: "mock",
      config: {
        agents: {
          list: [
            { id: "main", default: true, name: "Claw" },
            { id: "work", name: "Work", workspace: "~/work" },
          ],
        },
      },
      async prepare(place, workspace) {
        mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
        writeNotes(workspace);
        mkdirSync(join(place.home, "work", "memory"), { recursive: true });
        writeFileSync(join(place.home, "work", "MEMORY.md"), "# Work\n\nThe release train leaves on Thursdays.\n");
        await using store = await openTestStore(place.stateDir);
        const first = [
          line("m1", null, said("My sister Lena lives in Villach near the station"), 1),
          line("m2", "m1", answered("Noted: Lena lives in Villach."), 2),
        ];
        await seedSession(store, [...first, ...filler], TRIP, "trip");
        const moved = [
          line("a1", null, said("My address is Rosenweg 4 in Graz"), 1),
          line("a2", "a1", answered("Noted."), 2),
          line("a3", "a2", said("My address is Hauptplatz 9 in Graz"), 30 * 86_400_000),
        ];
        await seedSession(store, moved, "agent:main:web:moved", "moved");
      },
    });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const file = (name: string): string => join(scene.workspace, name);
  const article = (page: Page, name: string): Locator => page.getByRole("article", { name });
  const box = (page: Page): Locator => page.getByRole("searchbox", { name: "Search memory" });
  const results = (page: Page): Locator => page.getByRole("list", { name: "Results" }).locator("> li");

  test("notes are browsed by day and read as Markdown, and the strip says what is indexed and what is not", async () => {
    const page = await scene.open("memory");
    await article(page, "MEMORY.md").getByRole("heading", { name: "Food" }).waitFor();
    const list = page.getByRole("navigation", { name: "Notes" });
    expect(await list.getByRole("heading").allInnerTexts()).toEqual([
      expect.stringMatching(/^Long-term memory\s*1/),
      expect.stringMatching(/^November 2026\s*1/),
      expect.stringMatching(/^October 2026\s*1/),
      expect.stringMatching(/^Other notes\s*2/),
    ]);
    await list.getByRole("link", { name: /2 Nov/ }).click();
    await article(page, "memory/2026-11-02.md").getByText("basil and parsley").waitFor();
    await page.getByText(/^4 notes and \d+ messages indexed$/).waitFor();
    await page.getByText("Works without an API key").waitFor();
    await page.getByRole("button", { name: "1 file skipped" }).click();
    await page.getByRole("list", { name: "Skipped files" }).getByText("memory/binary.md").waitFor();
    await page.getByRole("button", { name: "Rebuild index" }).click();
    await page.getByText(/^Index rebuilt in .*: \d notes and \d+ messages$/).waitFor();
  });

  test("a search marks the words, explains itself, and opens the note at the line with the keyboard alone", async () => {
    const page = await scene.open("memory");
    await article(page, "MEMORY.md").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("who is allergic to walnuts?");
    const first = results(page).first();
    await first.getByText("MEMORY.md, lines").waitFor();
    expect(await first.locator("mark").allInnerTexts()).toEqual(expect.arrayContaining(["allergic", "walnuts"]));
    await first.getByRole("img", { name: /of 100, the chance that this or a nearby passage/ }).waitFor();
    const why = first.getByRole("button", { name: /^Why/ });
    await why.press("Enter");
    await first.getByText("Matched words").waitFor();
    await first.getByText("allergic, walnuts", { exact: true }).waitFor();
    await first.getByText("Ranked higher because").waitFor();
    await page.getByText(/^Interpreted as: looks for /).waitFor();
    await box(page).focus();
    await page.keyboard.press("ArrowDown");
    await first.locator("a:focus").waitFor();
    await page.keyboard.press("ArrowDown");
    await results(page).nth(1).locator("a:focus").waitFor();
    await page.keyboard.press("Escape");
    expect(await box(page).evaluate((input) => input.matches(":focus"))).toBe(true);
    await page.keyboard.press("Enter");
    await article(page, "MEMORY.md").locator(".found").waitFor();
    await page.getByRole("link", { name: "Back to results" }).click();
    await first.waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("who is allergic to walnuts?");
  });

  test("a long note opens at the cited line: one that is too long to be drawn, and one with lines that read alike", async () => {
    const filling = Array.from({ length: 12_000 }, (_, at) => `Line ${at + 1} is about nothing in particular.`);
    filling[8999] = "The heron nests behind the mill.";
    writeFileSync(file("memory/long.md"), filling.join("\n"));
    const items = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? "- bought eggs" : `- number ${at + 1}`));
    writeFileSync(file("memory/list.md"), `# List\n\n${items.join("\n")}\n`);
    const inView = (found: Locator): Promise<boolean> =>
      found.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= (element.ownerDocument.defaultView?.innerHeight ?? 0);
      });
    const page = await scene.open("memory?note=memory/long.md&line=9000");
    const heron = article(page, "memory/long.md").locator(".found");
    await heron.waitFor();
    expect(await heron.innerText()).toBe("The heron nests behind the mill.");
    expect(await inView(heron)).toBe(true);
    await page.goto(page.url().replace(/memory\?.*$/, "memory?note=memory/list.md&line=303"));
    const eggs = article(page, "memory/list.md").locator(".found");
    await eggs.waitFor();
    expect(await eggs.innerText()).toBe("bought eggs");
    expect(await eggs.evaluate((element) => [...(element.closest("ul, ol")?.children ?? [])].indexOf(element))).toBe(300);
    expect(await inView(eggs)).toBe(true);
  });

  test("a message is found with its speaker and session, and opens in the chat at the message", async () => {
    const page = await scene.open("memory?q=where%20does%20Lena%20live");
    const hit = results(page).filter({ has: page.locator(".snippet", { hasText: "My sister Lena" }) });
    await hit.getByText("From a chat").waitFor();
    await page
      .getByRole("group", { name: "Source" })
      .getByRole("button", { name: /^Chats/ })
      .click();
    await hit.getByRole("link").first().click();
    await page.locator("oc-transcript .found", { hasText: "My sister Lena lives in Villach" }).waitFor();
  });

  test("a statement that a newer one replaces says so, and leads to the newer one", async () => {
    const page = await scene.open("memory?q=what%20is%20my%20address");
    const hit = (text: string): Locator => results(page).filter({ has: page.locator(".snippet", { hasText: text }) });
    await hit("Hauptplatz 9").getByText("Replaces an older statement").waitFor();
    await hit("Rosenweg 4").getByText("Replaced by a newer statement").waitFor();
    expect(await results(page).first().locator(".snippet").innerText()).toContain("Hauptplatz 9");
    await hit("Rosenweg 4").getByRole("button", { name: /^Why/ }).click();
    await hit("Rosenweg 4")
      .getByText(/^Replaced by sessions\//)
      .waitFor();
  });

  test("a search without a result says what to do, and one for another agent sees that agent only", async () => {
    const page = await scene.open("memory?q=zzyzx");
    await page.getByText("No results for “zzyzx”").waitFor();
    await choose(page.getByRole("combobox", { name: "Agent" }), "work");
    await article(page, "MEMORY.md").getByText("The release train").waitFor();
    await box(page).fill("walnuts");
    await page.getByText("No results for “walnuts”").waitFor();
    await box(page).fill("release train");
    await results(page).getByText("leaves on Thursdays").waitFor();
  });

  test("a search that fails says why and is tried again", async () => {
    const page = await (await scene.window()).newPage();
    let failures = 1;
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((frame) => {
        const { id, method } = JSON.parse(String(frame)) as { readonly id: string; readonly method?: string };
        if (method !== "memory.search" || failures === 0) return server.send(frame);
        failures -= 1;
        socket.send(JSON.stringify({ type: "res", id, ok: false, error: { code: "UNAVAILABLE", message: "the index is locked" } }));
      });
    });
    await page.goto(scene.link());
    await page.locator("oc-menu").waitFor();
    await page.goto(`${scene.url}/memory?q=walnuts`);
    await page.getByRole("alert").getByText("The index is locked").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await results(page).first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a note is written, edited and saved with the keyboard; leaving unsaved text is asked about", async () => {
    const page = await scene.open("memory");
    await page.getByRole("button", { name: "Add note" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Plans");
    await page.getByRole("textbox", { name: "Name" }).press("Enter");
    const editor = page.getByRole("textbox", { name: "Text of memory/Plans.md" });
    await editor.fill("# Plans\n\nPaint the fence.\n");
    await page.getByRole("navigation", { name: "Notes" }).getByRole("link", { name: "MEMORY.md" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keep editing" }).click();
    await editor.press("Control+s");
    await article(page, "memory/Plans.md").getByRole("heading", { name: "Plans", exact: true }).waitFor();
    expect(readFileSync(file("memory/Plans.md"), "utf8")).toBe("# Plans\n\nPaint the fence.\n");
    await page.getByRole("navigation", { name: "Notes" }).getByRole("link", { name: "Plans.md" }).waitFor();
  });

  test("the editor stays with what was written while the list lacks the note, and says why it is not saved", async () => {
    const page = await scene.open("memory");
    await article(page, "MEMORY.md").waitFor();
    const connection = await openFlawed(page);
    await page.getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("textbox", { name: "Text of MEMORY.md" });
    await editor.fill("# Mine\n");
    rmSync(file("MEMORY.md"));
    connection.asked.length = 0;
    await connection.drop();
    await page.getByRole("navigation", { name: "Notes" }).getByRole("link", { name: "MEMORY.md" }).waitFor({ state: "detached" });
    await settled(page);
    expect(await editor.inputValue()).toBe("# Mine\n");
    writeFileSync(file("MEMORY.md"), "# Theirs\n");
    connection.refuse("memory.notes.get");
    await editor.press("Control+s");
    await page.getByText("MEMORY.md was not saved. It was changed elsewhere, and it could not be read: The file could not be opened").waitFor();
    connection.refuse(undefined);
    await editor.press("Control+s");
    await page.getByRole("dialog").getByRole("button", { name: "Save your version" }).click();
    await expect.poll(() => readFileSync(file("MEMORY.md"), "utf8")).toBe("# Mine\n");
  });

  test("a note that changed while it was edited shows both versions, and each can be kept", async () => {
    const page = await scene.open("memory?note=memory%2Frecipes.md");
    const edit = async (text: string): Promise<Locator> => {
      await page.getByRole("button", { name: "Edit" }).click();
      const editor = page.getByRole("textbox", { name: "Text of memory/recipes.md" });
      await editor.fill(text);
      return editor;
    };
    const editor = await edit("# Recipes\n\nMine.\n");
    writeFileSync(file("memory/recipes.md"), "# Recipes\n\nTheirs.\n");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "memory/recipes.md was changed while you were editing it" });
    expect(await dialog.getByRole("region", { name: "Saved version" }).innerText()).toContain("Theirs.");
    expect(await dialog.getByRole("region", { name: "Your version" }).innerText()).toContain("Mine.");
    await page.keyboard.press("Escape");
    expect(await editor.inputValue()).toContain("Mine.");
    expect(readFileSync(file("memory/recipes.md"), "utf8")).toContain("Theirs.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.getByRole("button", { name: "Save your version" }).click();
    await article(page, "memory/recipes.md").getByText("Mine.").waitFor();
    expect(readFileSync(file("memory/recipes.md"), "utf8")).toContain("Mine.");
    await edit("# Recipes\n\nMine again.\n");
    writeFileSync(file("memory/recipes.md"), "# Recipes\n\nTheirs again.\n");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.getByRole("button", { name: "Use saved version" }).click();
    await article(page, "memory/recipes.md").getByText("Theirs again.").waitFor();
  });

  test("a deleted note is gone from the list and the search, and comes back by Undo in the message or on the page", async () => {
    const name = "memory/2026-10-30-trip.md";
    const page = await scene.open(`memory?note=${encodeURIComponent(name)}`);
    const remove = page.getByRole("button", { name: `Delete ${name}` });
    const link = page.getByRole("navigation", { name: "Notes" }).getByRole("link", { name: /30 Oct/ });
    await remove.click();
    await link.waitFor({ state: "detached" });
    expect(existsSync(file(name))).toBe(false);
    await page.locator("oc-toasts").getByRole("button", { name: "Undo" }).click();
    await article(page, name).getByText("Table for four").waitFor();
    await link.waitFor();
    await remove.click();
    await page.getByText("You can restore it for 24 hours").waitFor();
    await box(page).fill("trattoria");
    await page.getByText("No results for “trattoria”").waitFor();
    await page.goBack();
    await page.locator("oc-memory-page").getByRole("button", { name: "Undo" }).click();
    await article(page, name).getByText("Table for four").waitFor();
    expect(existsSync(file(name))).toBe(true);
  });

  test("what was recalled in a turn is listed with the passages, and leads to its trace, its message and the note", async () => {
    const chat = await scene.open(`chat/${encodeURIComponent("agent:main:web:cake")}`);
    await fetch(`${scene.modelUrl}/next`, {
      method: "POST",
      body: JSON.stringify([{ tool: "memory_search", args: '{"query":"Jonas allergic walnuts"}' }, { say: "No walnuts." }]),
    });
    const message = chat.getByRole("textbox", { name: "Message", exact: true });
    await message.fill("What may not be in the cake?");
    await message.press("Enter");
    await chat.getByText("No walnuts.").first().waitFor();
    await chat.goto(`${scene.url}/memory?view=recalled`);
    const recall = chat.getByRole("list", { name: "Recalled" }).locator("> li").first();
    await recall.getByRole("heading", { name: "What may not be in the cake?" }).waitFor();
    await recall.getByText("for the search “Jonas allergic walnuts”").waitFor();
    await recall
      .getByRole("link", { name: /^MEMORY\.md, lines/ })
      .first()
      .waitFor();
    await recall.getByRole("link", { name: "Trace", exact: true }).click();
    await chat.locator("oc-trace-page").getByText("memory_search").first().waitFor();
    await chat.goBack();
    await recall.getByRole("link").nth(1).click();
    await chat.locator("oc-transcript .found").waitFor();
  });

  test.each([
    { look: "wide and light", options: { colorScheme: "light" as const } },
    { look: "wide and dark", options: { colorScheme: "dark" as const } },
    { look: "on a phone", options: { colorScheme: "dark" as const, viewport: { width: 390, height: 844 }, hasTouch: true } },
  ])("no state of the page has a serious fault or is too wide, $look", { timeout: 60_000 }, async ({ options }) => {
    const page = await scene.open("memory", { ...options, bypassCSP: true });
    const found: string[] = [];
    const examine = async (where: string): Promise<void> => {
      await settled(page);
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        interface Axe {
          run(options: object): Promise<{
            readonly violations: readonly {
              readonly id: string;
              readonly impact: string;
              readonly nodes: readonly { readonly target: readonly unknown[] }[];
            }[];
          }>;
        }
        return (await (globalThis as unknown as { readonly axe: Axe }).axe.run({ resultTypes: ["violations"] })).violations;
      });
      for (const { id, impact, nodes } of violations)
        if (impact === "serious" || impact === "critical") found.push(`${where}: ${id} ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
      if (await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")) found.push(`${where}: too wide`);
    };
    const visit = async (path: string): Promise<void> => void (await page.goto(`${scene.url}/${path}`));
    await examine("notes");
    await visit("memory?note=MEMORY.md&line=5");
    await article(page, "MEMORY.md").locator(".found").waitFor();
    await examine("a note");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Text of MEMORY.md" }).fill(`${MEMORY}\nMore.\n`);
    writeFileSync(file("MEMORY.md"), `${MEMORY}\n`);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    await examine("a conflict");
    writeFileSync(file("MEMORY.md"), MEMORY);
    await page.getByRole("dialog").getByRole("button", { name: "Use saved version" }).click();
    await visit("memory?q=walnuts");
    await results(page).first().getByRole("button", { name: /^Why/ }).click();
    await examine("results");
    await visit("memory?view=recalled");
    await examine("recalled");
    expect(found).toEqual([]);
  });
});
