/** Tabs of a user's own Chrome, over the real extension in a real Chrome. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { refIn, textOf, type User } from "./lab.ts";
import { openRelayLab, type RelayLab } from "./relay-lab.ts";

let relay: RelayLab;
beforeAll(async () => {
  relay = await openRelayLab();
});
afterAll(() => relay[Symbol.asyncDispose]());

/** The tab with that address, once the agent sees it. */
async function idOf(agent: User, path: string): Promise<string> {
  let found: string | undefined;
  await until(
    async () => {
      const text = await agent.text({ action: "tabs" });
      const { tabs } = JSON.parse(/\{[\s\S]*\}/.exec(text)?.[0] ?? "{}") as { tabs: { targetId: string; url: string }[] };
      found = tabs.find(({ url }) => url.includes(path))?.targetId;
      return found !== undefined;
    },
    () => `no tab with ${path} is shared`,
  );
  return found!;
}

test("only tabs on which the user clicked are seen, and another click takes them back", async () => {
  const { lab, chrome } = relay;
  const agent = relay.agent();
  const secret = await chrome.open(lab.at("/item?n=private"));
  const shared = await relay.share("/item?n=shared-one");
  await idOf(agent, "n=shared-one");
  expect(await agent.text({ action: "tabs" })).not.toContain("n=private");
  await expect.poll(() => chrome.badge(shared)).toBe("ON");
  expect(await chrome.badge(secret)).toBe("");
  expect(await chrome.isDebugged(shared)).toBe(true);
  await chrome.click(shared);
  await expect.poll(() => chrome.badge(shared)).toBe("");
  await expect.poll(() => chrome.isDebugged(shared)).toBe(false);
  await expect.poll(async () => textOf(await agent.call({ action: "tabs" }))).not.toContain("n=shared-one");
  // The user's pages stay open.
  expect(shared.isClosed()).toBe(false);
  await Promise.all([shared.close(), secret.close()]);
});

test("a shared page is read, filled and clicked, with its frames, in the background as well", async () => {
  const { lab } = relay;
  const agent = relay.agent();
  const page = await relay.share("/search?read");
  const front = await relay.chrome.open(lab.at("/home"));
  await front.bringToFront();
  const targetId = await idOf(agent, "/search?read");
  const outline = await agent.text({ action: "snapshot", targetId });
  expect(outline).toContain("Search");
  await agent.act({ kind: "type", ref: refIn(outline, "Find"), text: "lamp", targetId });
  const found = await agent.act({ kind: "click", ref: refIn(outline, '"Go"'), targetId });
  expect(found + (await agent.text({ action: "snapshot", targetId }))).toContain("Blue lamp");
  expect(await page.locator("#found li").count()).toBe(2);
  expect(await agent.text({ action: "navigate", targetUrl: lab.at("/frames"), targetId })).toContain("Send order");
  const { content } = await agent.call({ action: "screenshot", targetId });
  expect(content).toMatchObject([{ type: "text" }, { type: "image", mimeType: "image/png" }]);
  await Promise.all([page.close(), front.close()]);
});

test("the agent opens no tab, and closing one gives it back to the user", async () => {
  const { lab, chrome } = relay;
  const agent = relay.agent();
  const page = await relay.share("/item?n=given-back");
  const targetId = await idOf(agent, "given-back");
  const pages = chrome.context.pages().length;
  expect(await agent.failure({ action: "open", targetUrl: lab.at("/home") })).toMatch(/has only tabs that the user shares.*(use navigate|ask the user)/s);
  expect(chrome.context.pages()).toHaveLength(pages);
  await agent.text({ action: "close", targetId });
  await expect.poll(() => chrome.badge(page)).toBe("");
  expect(page.isClosed()).toBe(false);
  expect(await agent.failure({ action: "snapshot", targetId })).toMatch(/there is no tab|no tab of Chrome is shared/);
  await page.close();
});

test("a tab that a page opens is not shared", async () => {
  const agent = relay.agent();
  const page = await relay.share("/popup");
  const targetId = await idOf(agent, "/popup");
  const outline = await agent.text({ action: "snapshot", targetId });
  const popup = relay.chrome.context.waitForEvent("page");
  expect(await agent.act({ kind: "click", ref: refIn(outline, "New tab"), targetId })).toMatch(/opened another tab, which is not shared/);
  const opened = await popup;
  expect(await agent.text({ action: "tabs" })).not.toContain("/home");
  await Promise.all([page.close(), opened.close()]);
});

test("pages reach only what the policy allows: navigation, redirects, pictures, fetch, frames and workers", async () => {
  const { lab } = relay;
  const agent = relay.agent();
  const page = await relay.share("/item?n=guarded");
  const targetId = await idOf(agent, "n=guarded");
  const inside = (path: string): string => lab.at(path, "inside.test");
  expect(await agent.failure({ action: "navigate", targetUrl: inside("/relay-direct"), targetId })).toContain("browser.ssrfPolicy");
  const redirect = lab.at(`/to?url=${encodeURIComponent(inside("/relay-redirect"))}`);
  expect(await agent.failure({ action: "navigate", targetUrl: redirect, targetId })).toContain("browser.ssrfPolicy");
  const worker = `fetch("${inside("/relay-worker")}", { mode: "no-cors" }).catch(() => 0).then(() => postMessage(1))`;
  const script = `
    const done = [fetch("${inside("/relay-fetch")}", { mode: "no-cors" }).catch(() => 0)];
    done.push(new Promise((end) => { const made = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(worker)}]))); made.onmessage = end; made.onerror = end; }));
    done.push(new Promise((end) => { const image = new Image(); image.onerror = end; image.src = "http://127.0.0.1:${lab.site.port}/relay-picture"; }));
    Promise.all(done).then(() => { document.body.append("all done"); });`;
  const html = `<iframe src="${inside("/relay-frame")}"></iframe><script src="${inside("/relay-script")}"></script><script>${script}</script>`;
  await agent.text({ action: "navigate", targetUrl: lab.at(`/write?html=${encodeURIComponent(html)}`), targetId });
  await agent.act({ kind: "wait", text: "all done", targetId });
  expect(lab.site.seen.filter((path) => path.includes("/relay-"))).toEqual([]);
  // What it could do besides, such as opening sockets, nobody could check.
  expect(await agent.failure({ action: "act", request: { kind: "evaluate", fn: "1", targetId } })).toContain("scripts of agents do not run in shared tabs");
  await page.close();
});

test("frames of other sites are read and used, and what they load is checked as well", async () => {
  const { lab } = relay;
  await lab.change({ ssrfPolicy: { allowedHostnames: ["shop.test", "partner.test"] } });
  const agent = relay.agent();
  const page = await relay.share("/item?n=framed");
  const targetId = await idOf(agent, "n=framed");
  const script = `fetch("${lab.at("/relay-inner", "inside.test")}", { mode: "no-cors" }).catch(() => 0).then(() => document.body.append("inner done"))`;
  const inner = `<h2>Partner</h2><button onclick="this.textContent = 'Pressed'">Press</button><iframe src="${lab.at("/relay-nested", "inside.test")}"></iframe><script>${script}</script>`;
  const address = lab.at(`/write?html=${encodeURIComponent(inner)}`, "partner.test");
  const html = `<h1>Outer</h1><iframe src="${address.replaceAll('"', "&quot;")}"></iframe>`;
  await agent.text({ action: "navigate", targetUrl: lab.at(`/write?html=${encodeURIComponent(html)}`), targetId });
  await expect.poll(() => agent.text({ action: "snapshot", targetId })).toContain("inner done");
  const outline = await agent.text({ action: "snapshot", targetId });
  expect(await agent.act({ kind: "click", ref: refIn(outline, '"Press"'), targetId })).toContain("Pressed");
  expect(lab.site.seen.some((path) => path.startsWith("partner.test"))).toBe(true);
  expect(lab.site.seen.filter((path) => path.includes("/relay-inner") || path.includes("/relay-nested"))).toEqual([]);
  await page.close();
});

test("cookies of the user, files and other parts of Chrome are out of reach", async () => {
  const { lab } = relay;
  const page = await relay.share("/item?n=cookies");
  await idOf(relay.agent(), "n=cookies");
  const ask = (method: "GET" | "POST", path: string): Promise<unknown> => lab.request(method, path, { profile: "chrome" });
  await expect(ask("GET", "/cookies")).rejects.toThrow("not available for tabs of your own Chrome");
  await expect(ask("POST", "/cookies/clear")).rejects.toThrow("not available for tabs of your own Chrome");
  await expect(lab.request("POST", "/set/credentials", { profile: "chrome", username: "a", password: "b" })).rejects.toThrow("not available");
  await page.close();
});

test("a tab that is closed or taken back during a call ends it with a clear error", async () => {
  const agent = relay.agent();
  const page = await relay.share("/item?n=taken");
  const targetId = await idOf(agent, "n=taken");
  const waiting = agent.failure({ action: "act", request: { kind: "wait", text: "never there", targetId, timeoutMs: 60_000 } });
  await expect.poll(() => relay.chrome.isDebugged(page)).toBe(true);
  await relay.chrome.click(page);
  expect(await waiting).toMatch(/no longer shared, during the wait; tabs lists/);
  await page.close();
});

test("stopping lets go of the tabs, which stay shared and are used again", async () => {
  const { lab, chrome } = relay;
  const agent = relay.agent();
  const page = await relay.share("/item?n=stopped");
  await idOf(agent, "n=stopped");
  await agent.text({ action: "stop" });
  await expect.poll(() => chrome.isDebugged(page)).toBe(false);
  expect(await chrome.badge(page)).toBe("ON");
  // Nobody holds up its requests.
  await page.goto(lab.at("/item?n=stopped-2"));
  await idOf(agent, "n=stopped-2");
  await page.close();
});
