import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock", config: { logging: { redactSensitive: "off" } } });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const region = (page: Page, name: string): Locator => page.getByRole("region", { name });
const configOf = (): { readonly logging?: { readonly redactSensitive?: string } } => JSON.parse(readFileSync(scene.place.configPath, "utf8"));
function backupsOf(): readonly string[] {
  const folder = join(scene.place.stateDir, "backups");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("openclaw-backup-")) : [];
}

test("findings are listed by severity, and a fix is shown, made and undone; a deep audit looks at the gateway from outside", async () => {
  const page = await scene.open("security");
  await region(page, "Warnings").waitFor();
  const fixes = region(page, "Safe fixes");
  await fixes.getByText("Set logging.redactSensitive from off to tools").waitFor();
  expect(configOf().logging?.redactSensitive).toBe("off");
  await fixes.getByRole("button", { name: "Apply: Set logging.redactSensitive from off to tools" }).click();
  await page.getByText("logging.redactSensitive is now tools").waitFor();
  expect(configOf().logging?.redactSensitive).toBe("tools");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("logging.redactSensitive is off again").waitFor();
  expect(configOf().logging?.redactSensitive).toBe("off");
  await page.getByRole("button", { name: "Deep audit" }).click();
  await page.getByText(/Checked from outside: the gateway answers at http/).waitFor();
});

test("files that others can read are made private one by one; a fix that is not needed any more says so", async () => {
  chmodSync(scene.place.stateDir, 0o755);
  const page = await scene.open("security");
  const fix = region(page, "Safe fixes").getByRole("button", {
    name: new RegExp(`Remove other users’ access to ${scene.place.stateDir.replaceAll(".", "\\.")}: mode 755 becomes 700`),
  });
  await fix.click();
  await page.getByText("is now private").waitFor();
  expect(statSync(scene.place.stateDir).mode & 0o777).toBe(0o700);
  await fix.waitFor({ state: "detached" });
  chmodSync(scene.place.stateDir, 0o755);
  await page.getByRole("button", { name: "Check again" }).click();
  await fix.waitFor();
  chmodSync(scene.place.stateDir, 0o700);
  await fix.click();
  await page.getByText(/nothing to fix there any more/).waitFor();
});

/** Waits until a job of the page has ended. */
const ended = (page: Page, text: string | RegExp): Promise<void> => page.locator(".note").getByText(text).first().waitFor();

/** Waits for the backup that was asked for, and gives its name. The page alone does not show that: it also says how the job before ended. */
async function created(page: Page, before: readonly string[]): Promise<string> {
  const added = (): readonly string[] => backupsOf().filter((name) => !before.includes(name));
  await expect.poll(added).toHaveLength(1);
  const [name = ""] = added();
  await page.getByRole("button", { name: `Verify ${name}` }).waitFor();
  await ended(page, /was created: \d+ files/);
  return name;
}

test("a backup is made, verified, downloaded whole and deleted", async () => {
  rmSync(join(scene.place.stateDir, "backups"), { recursive: true, force: true });
  const page = await scene.open("backups");
  await page.getByText("No backups yet").waitFor();
  await page.getByRole("button", { name: "Create backup" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Keep it where only you can read it.").waitFor();
  await dialog.getByRole("button", { name: "Create backup" }).click();
  const name = await created(page, []);
  const file = join(scene.place.stateDir, "backups", name);
  await page.getByRole("button", { name: `Verify ${name}` }).click();
  await ended(page, /is complete and undamaged/);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: `Download ${name}` }).click();
  expect(readFileSync(await (await saved).path()).equals(readFileSync(file))).toBe(true);
  expect(scene.cli("backup", "verify", file).code).toBe(0);

  truncateSync(file, statSync(file).size - 100);
  await page.getByRole("button", { name: `Verify ${name}` }).click();
  await ended(page, /is damaged. Do not rely on it/);
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No backups yet").waitFor();
  expect(backupsOf()).toEqual([]);
});

test("on a phone, and where the page came over plain HTTP, a backup is made, and has its buttons", async () => {
  const page = await scene.open("backups", { viewport: { width: 390, height: 844 } });
  // Browsers have it on secure pages only.
  await page.evaluate(() => Object.defineProperty(Crypto.prototype, "randomUUID", { value: undefined }));
  const before = backupsOf();
  await page.getByRole("button", { name: "Create backup" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create backup" }).click();
  await created(page, before);
  for (const name of ["Verify", "Download", "Restore", "Delete"]) {
    const box = await page
      .getByRole("button", { name: new RegExp(`^${name} openclaw`) })
      .first()
      .boundingBox();
    expect(box!.x + box!.width, name).toBeLessThanOrEqual(390);
  }
  await page
    .getByRole("button", { name: /^Delete openclaw/ })
    .first()
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect.poll(() => backupsOf().length).toBe(before.length);
});

test("an encrypted backup needs its passphrase twice when it is made, and the right one when it is opened", async () => {
  const before = backupsOf();
  const page = await scene.open("backups");
  await page.getByRole("button", { name: "Create backup" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Encrypt with a passphrase").check();
  await dialog.getByLabel("Passphrase", { exact: true }).fill("correct horse");
  await dialog.getByRole("button", { name: "Create backup" }).click();
  await dialog.getByText("The passphrases do not match.").waitFor();
  await dialog.getByLabel("Passphrase again").fill("correct horse");
  await page.keyboard.press("Enter");
  const name = await created(page, before);
  expect(name).toMatch(/\.tar\.gz\.age$/);
  for (const [passphrase, outcome] of [
    ["wrong", /could not be opened/],
    ["correct horse", /is complete and undamaged/],
  ] as const) {
    await page.getByRole("button", { name: `Verify ${name}` }).click();
    await page.getByRole("dialog").getByLabel("Passphrase", { exact: true }).fill(passphrase);
    await page.keyboard.press("Enter");
    await ended(page, outcome);
  }
});

test("a restore says what happens, restarts the gateway on the backup, and the page is connected again by itself", async () => {
  const before = backupsOf();
  const mark = join(scene.place.stateDir, "after-the-backup.txt");
  const page = await scene.open("backups");
  await page.getByRole("button", { name: "Create backup" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create backup" }).click();
  const name = await created(page, before);
  writeFileSync(mark, "not in the backup");
  await page.getByRole("button", { name: `Restore ${name}` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("If the backup cannot be opened, the gateway goes back to the state it has now.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(readFileSync(mark, "utf8")).toBe("not in the backup");
  await page.getByRole("button", { name: `Restore ${name}` }).click();
  await dialog.getByRole("button", { name: "Restore and restart" }).click();
  await ended(page, /^This state was restored/);
  expect(readdirSync(scene.place.stateDir)).not.toContain("after-the-backup.txt");
  await page.getByRole("button", { name: `Verify ${name}` }).waitFor();
});

test("the version, how to update and what changed are shown, and a restart ends with the page connected again", async () => {
  const page = await scene.open("update");
  await region(page, "This version").getByText("Version", { exact: true }).waitFor();
  await region(page, "What changed").getByText("Unreleased").waitFor();
  await region(page, "Update")
    .getByText(/npm (?:run build|start)/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Restart gateway" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
  await page.getByText("The gateway restarted and is connected again").waitFor();
});

test("where restarts are turned off the page says so", async () => {
  const strict = await openScene({ config: { commands: { restart: false } } });
  try {
    const page = await strict.open("update");
    await page.getByRole("button", { name: "Restart gateway" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
    await page.getByText(/Restarts are turned off/).waitFor();
    await page.getByRole("button", { name: "Restart gateway" }).waitFor();
  } finally {
    await strict[Symbol.asyncDispose]();
  }
});
