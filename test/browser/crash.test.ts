import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLab, refIn, type Lab } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

/** Processes of the browser that uses the lab's folder, without the script that some systems start it with. */
function browserProcesses(): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return line.includes(`--user-data-dir=${lab.state}`) && !line.includes("--type=") && !line.startsWith("/bin/sh") ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function killBrowser(): void {
  const [pid] = browserProcesses();
  if (pid === undefined) throw new Error("no browser runs");
  process.kill(pid, "SIGKILL");
}

const timesSeen = (path: string): number => lab.site.seen.filter((seen) => seen.endsWith(path)).length;

test("a browser that is killed during a click comes back with its tabs, and the click is not repeated", async () => {
  const [user, other] = [lab.user(), lab.user()];
  await other.open("/order");
  const page = await user.open("/submit");
  const clicked = user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Pay now") } });
  await expect.poll(() => timesSeen("/never")).toBe(1);
  killBrowser();
  expect(await clicked).toMatch(/the browser ended during the click of e\d+ and was started again with its tabs\. It is not known whether/);
  expect(await other.text({ action: "snapshot" })).toContain("Send order");
  expect(await user.text({ action: "snapshot" })).toContain("Pay now");
  expect(timesSeen("/never")).toBe(1);
  expect(browserProcesses()).toHaveLength(1);
});

test("what may be done twice is done again within the call", async () => {
  const user = lab.user();
  await user.open("/home");
  const opened = user.text({ action: "navigate", targetUrl: lab.at("/once") });
  await expect.poll(() => timesSeen("/once")).toBe(1);
  killBrowser();
  expect(await opened).toContain("There at last");
});

test("a browser that ended between two calls is started again, and old refs say that they are old", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  killBrowser();
  await expect.poll(() => lab.opened.browser.status().running).toBe(false);
  expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Send order") } })).toContain("is not on the page");
  expect(await user.text({ action: "snapshot" })).toContain("Send order");
});

test("stopping ends the browser and its tabs", async () => {
  const user = lab.user();
  await user.open("/home");
  expect(JSON.parse(await user.text({ action: "stop" }))).toMatchObject({ running: false, tabs: 0 });
  await expect.poll(browserProcesses).toEqual([]);
  expect(await user.failure({ action: "snapshot" })).toContain("no tab is open");
});
