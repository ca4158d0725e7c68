import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Place } from "../harness/gateway-process.ts";
import { openScene, type Scene } from "./harness/scene.ts";

// The gateway restarts in the middle.
vi.setConfig({ testTimeout: 60_000 });

const BERTH = "CANARY-berth-4711";

const MANIFEST = {
  id: "harbour",
  name: "Old harbour",
  description: "Where ships lie.",
  configSchema: {
    type: "object",
    additionalProperties: false,
    properties: {
      depth: { type: "integer", minimum: 1, maximum: 40 },
      berth: { type: "string", minLength: 4 },
      pilots: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
      tide: { enum: ["high", "low"] },
    },
  },
  uiHints: {
    depth: { label: "Depth of the water", help: "In <b>metres</b>.", placeholder: "12" },
    berth: { label: "Berth", help: "Where the treasure is.", sensitive: true },
    pilots: { label: "Pilots", itemTemplate: { name: "Someone" } },
    tide: { advanced: true },
  },
};

function install({ stateDir }: Place): void {
  const folder = join(stateDir, "extensions/harbour");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify(MANIFEST));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "harbour", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(folder, "index.js"), "export default () => {};");
}

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ config: { plugins: { entries: { harbour: { enabled: false } } } }, prepare: install });
});
afterAll(() => scene[Symbol.asyncDispose]());

interface Written {
  readonly plugins: { readonly entries: { readonly harbour: { readonly enabled: boolean; readonly config?: object } } };
  readonly channels?: object;
}
const held = (): Written => JSON.parse(readFileSync(scene.place.configPath, "utf8")) as Written;

const sections = (page: Page) => page.getByRole("navigation", { name: "Sections" });
const depth = (page: Page) => page.getByRole("textbox", { name: "Depth of the water" });
const berth = (page: Page) => page.getByLabel("New value for Berth");
const review = (page: Page) => page.getByRole("button", { name: "Review", exact: true });

/** What the command line says about the file with this in it. */
function validated(config: object): string[] {
  const other = join(scene.place.home, "other.json");
  writeFileSync(other, JSON.stringify({ plugins: { entries: { harbour: { enabled: true, config } } } }));
  const { issues } = JSON.parse(scene.cli("config", "validate", "--file", other, "--json").stdout) as { issues: { path: string; message: string }[] };
  return issues.map(({ message }) => message);
}

async function save(page: Page): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

test("a plugin that is turned on has a section of its own, with the same errors as on the command line, and its secret is only written", async () => {
  const page = await scene.open("config");
  await sections(page)
    .getByRole("button", { name: /^Agents/ })
    .waitFor();
  expect(await sections(page).getByRole("button", { name: "Old harbour" }).count()).toBe(0);

  await page.getByRole("link", { name: "Plugins" }).click();
  const harbour = page.getByRole("switch", { name: "Old harbour" });
  expect(await harbour.getAttribute("aria-checked")).toBe("false");
  await harbour.click();
  // The gateway restarts to apply it.
  await expect.poll(() => harbour.getAttribute("aria-checked").catch(() => null)).toBe("true");
  await page.getByRole("link", { name: "Configuration" }).click();
  await sections(page).getByRole("button", { name: "Old harbour" }).click();
  await page.getByRole("heading", { name: "Old harbour" }).waitFor();
  await page.getByText("Where ships lie.", { exact: true }).first().waitFor();

  await page.getByText("In <b>metres</b>.", { exact: true }).waitFor();

  // One group, so it is unfolded.
  await depth(page).fill("99");
  const [message] = validated({ depth: 99 });
  await page.getByRole("alert").getByText(message!).waitFor();
  expect(await review(page).isDisabled()).toBe(true);
  await depth(page).fill("13");
  await berth(page).fill(BERTH);
  await page.getByRole("button", { name: "Add an entry" }).click();
  await page.getByText("Valid", { exact: true }).waitFor();
  expect(JSON.stringify((await page.context().storageState()).origins)).not.toContain(BERTH);

  await review(page).click();
  await page.getByRole("region", { name: "Changed lines" }).getByText('"depth": 13').waitFor();
  await save(page);
  expect(held().plugins.entries.harbour).toEqual({ enabled: true, config: { depth: 13, berth: BERTH, pilots: [{ name: "Someone" }] } });
  await page
    .locator("oc-config-secret")
    .filter({ has: berth(page) })
    .getByText("Set", { exact: true })
    .waitFor();
  await page.getByRole("button", { name: "Text", exact: true }).click();
  const text = await page.getByRole("textbox", { name: "Configuration as JSON5" }).inputValue();
  expect(text).toContain('"depth": 13');
  expect(text).not.toContain(BERTH);
  await page.context().close();
});

test("a channel that nobody set up yet has its fields, with what its plugin says about them", async () => {
  const page = await scene.open("config?section=channels.irc");
  await page.getByRole("heading", { name: "IRC" }).waitFor();
  const server = page.getByRole("textbox", { name: "Server", exact: true });
  expect(await server.getAttribute("placeholder")).toBe("irc.libera.chat");
  await page.getByLabel("New value for Server password").waitFor();
  await page.getByRole("searchbox", { name: "Search settings" }).fill("bot token");
  await page
    .getByRole("list", { name: "Settings found" })
    .getByRole("button", { name: /^Bot token channels\.telegram\.botToken/ })
    .click();
  await page.getByRole("heading", { name: "Telegram" }).waitFor();
  expect(await page.getByLabel("New value for Bot token").first().getAttribute("placeholder")).toBe("123456789:AA…");
  expect(held().channels).toBeUndefined();
  await page.context().close();
});
