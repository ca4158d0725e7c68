import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
  expect(await clicked).toMatch(
    /the browser ended during the click of e\d+ and was restarted with its tabs; text typed into the page is lost\. The click of e\d+ may have taken effect/,
  );
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
  expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Send order") } })).toContain("is no longer on the page");
  expect(await user.text({ action: "snapshot" })).toContain("Send order");
});

const LOST = "the page crashed and was reloaded; text typed into it is lost";
/** The tab that was opened last. */
const lastTab = () => lab.opened.browser.session().tabs().at(-1)!;

/** Ends the process of the last tab's page. */
async function crash(): Promise<void> {
  const { page } = lastTab();
  const crashed = new Promise((resolve) => page.once("crash", resolve));
  const session = await page.context().newCDPSession(page);
  session.send("Page.crash").catch(() => undefined);
  await crashed;
}

test("a page that crashes during a wait is loaded again within the call, and the answer says what is lost and shows the page", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  await user.act({ kind: "type", ref: refIn(page, "Name"), text: "Ada" });
  const waited = user.act({ kind: "wait", timeMs: 1500 });
  await crash();
  const answer = await waited;
  expect(answer).toContain(LOST);
  expect(answer).not.toContain("Nothing visible changed");
  expect(answer).not.toContain("Ada");
  expect(answer).toMatch(/Page:[\s\S]*Send order/);
  expect(await user.act({ kind: "click", ref: refIn(answer, "Gift") })).not.toContain("crashed");
});

test("a page that crashed between two calls says so with the next answer, also with the failure of an old ref", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  await crash();
  expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Gift") } })).toMatch(new RegExp(`${LOST}.*is no longer on the page`));
  const waited = await user.act({ kind: "wait", timeMs: 1 });
  expect(waited).toContain(LOST);
  expect(waited).toMatch(/Page:[\s\S]*Send order/);
  expect(await user.act({ kind: "wait", timeMs: 1 })).toContain("Nothing visible changed");
  await crash();
  expect(await user.text({ action: "snapshot" })).toMatch(new RegExp(`${LOST}[\\s\\S]*Send order`));
  await crash();
  expect(await user.text({ action: "navigate", targetUrl: lab.at("/home") })).not.toContain("crashed");
});

test("a page that crashes again in the second attempt ends the call with a reason", async () => {
  const user = lab.user();
  await user.open("/order");
  const former = lastTab().page;
  const failed = user.failure({ action: "act", request: { kind: "wait", timeMs: 4000 } });
  await crash();
  await expect.poll(() => lastTab().page !== former && lastTab().page.url().endsWith("/order")).toBe(true);
  await crash();
  expect(await failed).toContain("was reloaded and crashed again: navigate elsewhere or close the tab");
  expect(await user.text({ action: "snapshot" })).toContain("Send order");
});

test("what a killed gateway left of downloads and recordings goes with the next start", async () => {
  await lab.user().text({ action: "stop" });
  const left = ["downloads", "traces"].map((name) => join(lab.state, "browser", "openclaw", name, "left"));
  for (const path of left) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "half of it");
  }
  await lab.user().text({ action: "start" });
  expect(left.filter((path) => existsSync(path))).toEqual([]);
});

test("stopping ends the browser and its tabs", async () => {
  const user = lab.user();
  await user.open("/home");
  expect(JSON.parse(await user.text({ action: "stop" }))).toMatchObject({ running: false, tabs: 0 });
  await expect.poll(browserProcesses).toEqual([]);
  expect(await user.failure({ action: "snapshot" })).toContain("no tab is open");
});
