/**
 * `npm run ui:shots [-- <folder>] [--only <part of a name>]`: every page in light, dark and phone width, with a gateway behind it that has been in use.
 * Into `shots/` unless another folder is given; the best of them are in `docs/images`, which `--docs` updates.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { BrowserContextOptions, Page } from "playwright-core";
import { openRichScene } from "../test/ui/harness/rich.ts";
import { logIn, type Scene } from "../test/ui/harness/scene.ts";
import { settled } from "../test/ui/harness/settled.ts";

interface Shot {
  readonly name: string;
  readonly path: string;
  /** What is done before the picture is taken. */
  readonly first?: (page: Page) => Promise<unknown>;
}

const SHOTS: readonly Shot[] = [
  { name: "chat", path: "chat/agent%3Amain%3Amain" },
  { name: "chat-approval", path: "chat/agent%3Amain%3Aweb%3Anotes" },
  { name: "chat-empty", path: "chat/agent%3Amain%3Aweb%3Aempty" },
  {
    name: "chat-command",
    path: "chat/agent%3Amain%3Aweb%3Aempty",
    first: (page) => page.getByRole("textbox", { name: "Message", exact: true }).pressSequentially("/st"),
  },
  { name: "overview-usage", path: "overview", first: (page) => page.getByText("Usage and cost").scrollIntoViewIfNeeded() },
  { name: "trace-run", path: "trace", first: (page) => page.locator("a.run").first().click() },
  { name: "memory-search", path: "memory?q=What%20is%20Jonas%20allergic%20to%3F", first: (page) => page.getByRole("button", { name: /^Why/ }).first().click() },
  { name: "memory-recalled", path: "memory?view=recalled" },
  { name: "memory-note", path: "memory?note=MEMORY.md&line=5" },
  { name: "plugin", path: "plugins", first: (page) => page.getByRole("link", { name: "Weather" }).click() },
  ...["overview", "trace", "sessions", "memory", "jobs", "subagents", "channels", "agents", "plugins", "devices", "config", "logs", "start"].map((path) => ({
    name: path,
    path,
  })),
];

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
};

/** Those that the documentation shows. */
const IN_DOCS = new Set([
  "chat-light",
  "chat-dark",
  "chat-phone",
  "chat-approval-light",
  "overview-light",
  "trace-run-light",
  "memory-search-light",
  "config-light",
  "start-light",
]);

async function takeShots(scene: Scene, look: string, folder: string, wanted: (name: string) => boolean): Promise<void> {
  const window = await scene.window(LOOKS[look]);
  const page = await window.newPage();
  page.on("pageerror", (error) => console.error(`${look}: ${error.message}`));
  await page.goto(`${scene.url}/`);
  if (wanted(`login-${look}`)) {
    await page.getByLabel(/of the gateway/).waitFor();
    await page.screenshot({ path: join(folder, `login-${look}.png`) });
  }
  await logIn(page);
  for (const { name, path, first } of SHOTS) {
    if (!wanted(`${name}-${look}`)) continue;
    await page.goto(`${scene.url}/${path}`);
    await page.locator(`oc-${path.replace(/[/?].*/, "")}-page`).waitFor();
    await settled(page);
    await first?.(page);
    if (first) await settled(page);
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), caret: "hide", animations: "disabled" });
  }
  await window.close();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", default: "" }, docs: { type: "boolean", default: false } },
});
const folder = values.docs ? fileURLToPath(new URL("../docs/images", import.meta.url)) : (positionals[0] ?? "shots");
mkdirSync(folder, { recursive: true });
await using scene = await openRichScene();
for (const look of Object.keys(LOOKS)) await takeShots(scene, look, folder, (name) => name.includes(values.only) && (!values.docs || IN_DOCS.has(name)));
console.error(`pictures are in ${folder}`);
