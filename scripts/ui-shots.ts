/**
 * `npm run ui:shots [-- <folder>] [--state empty|typical|full|error] [--only <part of a name>]`: every page in light, dark and phone width, in each of four
 * states of the gateway behind it. Into `shots/<state>/` unless another folder is given; the best of those in use are in `docs/images`, which `--docs` updates.
 * A page that this build does not have is skipped.
 */
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { BrowserContextOptions, Page } from "playwright-core";
import sharp from "sharp";
import { PAGE_PATHS } from "../test/ui/harness/pages.ts";
import { logIn, type Scene } from "../test/ui/harness/scene.ts";
import { settled } from "../test/ui/harness/settled.ts";
import { openState, refuseRequests, STATES, type State } from "../test/ui/harness/states.ts";

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
  ...[
    "overview",
    "trace",
    "sessions",
    "memory",
    "jobs",
    "subagents",
    "channels",
    "agents",
    "plugins",
    "skills",
    "nodes",
    "devices",
    "approvals",
    "approvals/history",
    "approvals/rules",
    "usage",
    "security",
    "backups",
    "update",
    "config",
    "logs",
    "start",
  ].map((path) => ({
    name: path.replace("/", "-"),
    path,
  })),
];

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
};

/** Those that the documentation shows: every page, and some more. The log and the update name folders of the machine that takes the pictures. */
const IN_DOCS = new Set([
  ...PAGE_PATHS.filter((path) => path !== "logs" && path !== "update").map((path) => `${path}-light`),
  "overview-dark",
  "overview-phone",
  "chat-dark",
  "chat-phone",
  "chat-approval-light",
  "trace-run-light",
  "memory-search-light",
]);

/** As small as the eye allows: the page has few colours. */
async function compress(file: string): Promise<void> {
  const small = await sharp(file).png({ palette: true, quality: 90, effort: 10, dither: 0 }).toBuffer();
  await writeFile(file, small);
}

/** In the other states a page is looked at as it opens. */
const PLAIN: readonly Shot[] = [...new Set([...PAGE_PATHS, "skills", "nodes", "approvals/history", "approvals/rules"])].map((path) => ({
  name: path.replace("/", "-"),
  path,
}));

async function takeShots(scene: Scene, state: State, look: string, folder: string, wanted: (name: string) => boolean): Promise<void> {
  const window = await scene.window(LOOKS[look]);
  const page = await window.newPage();
  page.on("pageerror", (error) => console.error(`${state}, ${look}: ${error.message}`));
  await page.goto(`${scene.url}/`);
  if (wanted(`login-${look}`)) {
    await page.getByLabel(/of the gateway/).waitFor();
    await page.screenshot({ path: join(folder, `login-${look}.png`) });
  }
  await logIn(page);
  if (state === "error") await refuseRequests(page);
  for (const { name, path, first } of state === "typical" ? SHOTS : PLAIN) {
    if (!wanted(`${name}-${look}`)) continue;
    await page.goto(`${scene.url}/${path}`);
    const missing = page.getByRole("heading", { name: "Page not found" });
    await page
      .locator(`oc-${path.replace(/[/?].*/, "")}-page`)
      .or(missing)
      .first()
      .waitFor();
    if ((await missing.count()) > 0) {
      console.error(`${state}, ${name}, ${look}: skipped, this build has no such page`);
      continue;
    }
    await page
      .locator(".skeleton")
      .first()
      .waitFor({ state: "detached", timeout: 15_000 })
      .catch(() => console.error(`${state}, ${name}, ${look}: still loading after 15 s`));
    await settled(page);
    await first?.(page);
    if (first) await settled(page);
    const file = join(folder, `${name}-${look}.png`);
    await page.screenshot({ path: file, caret: "hide", animations: "disabled" });
    await compress(file);
  }
  await window.close();
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", default: "" }, state: { type: "string" }, docs: { type: "boolean", default: false } },
});
const chosen = STATES.filter((state) => (values.docs ? state === "typical" : values.state === undefined || values.state === state));
if (chosen.length === 0) throw new Error(`--state is one of ${STATES.join(", ")}; got ${values.state}`);
const root = positionals[0] ?? "shots";
for (const state of chosen) {
  const folder = values.docs ? fileURLToPath(new URL("../docs/images", import.meta.url)) : join(root, state);
  mkdirSync(folder, { recursive: true });
  await using scene = await openState(state);
  for (const look of Object.keys(LOOKS))
    await takeShots(scene, state, look, folder, (name) => name.includes(values.only) && (!values.docs || IN_DOCS.has(name)));
  console.error(`pictures are in ${folder}`);
}
