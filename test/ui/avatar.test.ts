import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openScene, type Scene } from "./harness/scene.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({
    config: {
      gateway: { controlUi: { basePath: "/claw" }, auth: { mode: "token", token: "a-token-for-the-page-0123456789" } },
      agents: {
        list: [
          { id: "main", default: true, identity: { name: "Claw", avatar: "claw.png" } },
          { id: "data", identity: { name: "Inline", avatar: `data:image/png;base64,${PNG.toString("base64")}` } },
          { id: "owl", identity: { name: "Owl", emoji: "🦉", avatar: "missing.png" } },
          { id: "far", identity: { name: "Far away", avatar: "https://example.com/far.png" } },
          { id: "plain" },
        ],
      },
    },
    prepare: (_place, workspace) => writeFileSync(join(workspace, "claw.png"), PNG),
  });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const avatarOf = (page: Page, name: string): Locator => page.getByRole("row").filter({ hasText: name }).locator("oc-avatar").first();
const isDrawn = (avatar: Locator): Promise<boolean> =>
  avatar
    .locator("img")
    .evaluate((picture) => (picture as unknown as { complete: boolean; naturalWidth: number }).naturalWidth > 0)
    .catch(() => false);

test("agents are shown with their pictures below the base path; emoji or letters stand for those that cannot be shown, and no other host is asked", async () => {
  const page = await scene.open("agents");
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(scene.url).origin) && !request.url().startsWith("data:")) foreign.push(request.url());
  });
  await page.reload();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await expect.poll(() => isDrawn(avatarOf(page, "Claw"))).toBe(true);
  await expect.poll(() => isDrawn(avatarOf(page, "Inline"))).toBe(true);
  await avatarOf(page, "Owl").getByText("🦉").waitFor();
  await avatarOf(page, "Far away").getByText("FA").waitFor();
  await avatarOf(page, "plain").getByText("P", { exact: true }).waitFor();
  expect(foreign).toEqual([]);
  await page.goto(`${scene.url}/overview`);
  await expect.poll(() => isDrawn(page.locator("[aria-labelledby=agents] oc-avatar").first())).toBe(true);
});
