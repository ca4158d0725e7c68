import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openFlawed } from "./harness/flawed.ts";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({
    model: "mock",
    prepare: (_, workspace) =>
      ["SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md"].forEach((name) => writeFileSync(join(workspace, name), "Be kind.\n")),
  });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

/** A file of the workspace, and the page with it open: each test has one of its own. */
async function open(name: string) {
  const path = join(scene.workspace, name);
  const page = await scene.open("agents/main/files");
  const choose = () => page.getByRole("button", { name }).click();
  await choose();
  const text = page.getByRole("textbox", { name });
  await text.waitFor();
  return { page, text, choose, onDisk: () => readFileSync(path, "utf8"), write: (value: string) => writeFileSync(path, value) };
}

const save = (page: Page): Promise<void> => page.getByRole("button", { name: "Save", exact: true }).click();

test("a saved file has a history: what each version changed, how it differs from now, and the way back", async () => {
  const { page, text, onDisk, write } = await open("SOUL.md");
  await text.fill("Be brief.\n");
  await save(page);
  await expect.poll(onDisk).toBe("Be brief.\n");
  write("Be loud.\n");
  await page.getByRole("radio", { name: "History" }).click();
  const list = page.getByRole("list", { name: "Versions, newest first" });
  await expect
    .poll(() => list.getByRole("button").allInnerTexts())
    .toEqual([expect.stringMatching(/Outside this page[\s\S]*Now/), expect.stringContaining("Saved here"), expect.stringContaining("Outside this page")]);
  await list.getByRole("button").nth(1).click();
  const lines = page.getByRole("region", { name: "Changed lines" });
  await lines.getByText("Be kind.").waitFor();
  await page.getByRole("radio", { name: "Compared with now" }).click();
  await lines.getByText("Be brief.").waitFor();

  await lines.getByText("Be loud.").waitFor();

  // The file is not as this page has read it: nothing is overwritten before it was seen.
  write("Be louder.\n");
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByText(/has just changed/).waitFor();
  expect(onDisk()).toBe("Be louder.\n");
  await lines.getByText("Be louder.").waitFor();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await expect.poll(onDisk).toBe("Be brief.\n");
  await page.getByRole("radio", { name: "Text" }).click();
  expect(await text.inputValue()).toBe("Be brief.\n");
});

test("a file that changed while it was edited shows both versions; nothing is overwritten until one is chosen", async () => {
  const { page, text, onDisk, write } = await open("USER.md");
  await text.fill("Mine.\n");
  write("Theirs.\n");
  await save(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("region", { name: "Saved version" }).getByText("Theirs.").waitFor();
  await dialog.getByRole("region", { name: "Your version" }).getByText("Mine.").waitFor();
  expect(onDisk()).toBe("Theirs.\n");
  await dialog.getByRole("button", { name: "Save your version" }).click();
  await expect.poll(onDisk).toBe("Mine.\n");
  await page.getByRole("radio", { name: "History" }).click();
  const list = page.getByRole("list", { name: "Versions, newest first" });
  await list.getByRole("button").nth(1).click();
  await page.getByRole("region", { name: "Changed lines" }).getByText("Theirs.").waitFor();
});

test("a file that changed and cannot be read says why it is not saved, and what was written stays", async () => {
  const { page, text, choose, onDisk, write } = await open("HEARTBEAT.md");
  const connection = await openFlawed(page);
  await choose();
  await text.fill("Mine.\n");
  write("Theirs.\n");
  connection.refuse("agents.files.get");
  await save(page);
  await page.getByText("HEARTBEAT.md was not saved. It was changed elsewhere, and it could not be read: The file could not be opened").waitFor();
  expect([await text.inputValue(), onDisk()]).toEqual(["Mine.\n", "Theirs.\n"]);
  connection.refuse(undefined);
  await save(page);
  await page.getByRole("dialog").getByRole("button", { name: "Save your version" }).click();
  await expect.poll(onDisk).toBe("Mine.\n");
});

test("what was written and not saved is there after a reload, and does not overwrite what came in between", async () => {
  const { page, text, choose, write } = await open("TOOLS.md");
  await text.fill("A draft.\n");
  await page.getByRole("navigation", { name: "Agent sections" }).getByRole("link", { name: "Skills" }).click();
  write("In between.\n");
  await page.getByRole("link", { name: "Files" }).click();
  await choose();
  await expect.poll(() => text.inputValue()).toBe("A draft.\n");
  await save(page);
  await page.getByRole("dialog").getByRole("region", { name: "Saved version" }).getByText("In between.").waitFor();
  await page.getByRole("button", { name: "Use saved version" }).click();
  await expect.poll(() => text.inputValue()).toBe("In between.\n");
});

test("what a run of the agent made of a file is a version with its trace, and what it was before comes back", async () => {
  writeFileSync(join(scene.workspace, "IDENTITY.md"), "Claw.\n");
  const answers = [{ tool: "write", args: JSON.stringify({ path: "IDENTITY.md", content: "Renamed by a tool.\n" }) }, { say: "Renamed." }];
  await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(answers) });
  const chat = await scene.open("chat");
  await chat.getByRole("textbox", { name: "Message", exact: true }).fill("Rename yourself");
  await chat.keyboard.press("Enter");
  await chat.getByRole("log", { name: "Conversation" }).getByText("Renamed.", { exact: true }).waitFor();
  const versions = join(scene.place.stateDir, "agents/main/files/IDENTITY.md");
  await expect.poll(() => readdirSync(versions).filter((name) => name.includes("-agent-"))).toHaveLength(1);
  await chat.context().close();

  const { page, onDisk } = await open("IDENTITY.md");
  expect(onDisk()).toBe("Renamed by a tool.\n");
  await page.getByRole("radio", { name: "History" }).click();
  const list = page.getByRole("list", { name: "Versions, newest first" });
  await expect
    .poll(() => list.getByRole("button").allInnerTexts())
    .toEqual([expect.stringMatching(/By the agent[\s\S]*Now/), expect.stringContaining("Outside this page")]);
  await list.getByRole("button").first().click();
  await page.getByRole("region", { name: "Changed lines" }).getByText("Renamed by a tool.").waitFor();
  expect(await page.getByRole("link", { name: "Trace of this run" }).getAttribute("href")).toMatch(/^trace\/[\w-]{8,}/);
  await list.getByRole("button").nth(1).click();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await expect.poll(onDisk).toBe("Claw.\n");
});
