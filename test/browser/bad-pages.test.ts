import { afterAll, beforeAll, expect, test } from "vitest";
import { openLab, refIn, type Lab, type User } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const written = (html: string): string => `/write?html=${encodeURIComponent(html)}`;
const tabIds = (): readonly string[] =>
  lab.opened.browser
    .session()
    .tabs()
    .map(({ id }) => id);
const click = (ref: string, timeoutMs = 8000): object => ({ action: "act", request: { kind: "click", ref, timeoutMs } });
const failed = (user: User, params: object): Promise<string> => user.failure(params as Readonly<Record<string, unknown>>);

test("a page whose scripts never pause holds up nothing: its click is of unknown effect, and the tab goes elsewhere", async () => {
  const [user, other] = [lab.user(), lab.user()];
  const page = await user.open(written(`<button onclick="const r = new XMLHttpRequest(); r.open('POST', '/paid', false); r.send(); for (;;);">Pay</button>`));
  await other.open("/home");
  const ref = refIn(page, "Pay");
  expect(await failed(user, click(ref, 5000))).toMatch(/click of e\d+ did not finish within 5000 ms, and it may have taken effect/);
  expect(lab.site.seen.filter((path) => path.endsWith("/paid"))).toHaveLength(1);
  expect(await failed(user, { action: "snapshot", timeoutMs: 500 })).toContain("its scripts are busy");
  expect(await other.text({ action: "snapshot" })).toContain("Log in");
  expect(await lab.request("POST", "/set/offline", { offline: false, targetId: tabIds().at(-1) })).toMatchObject({ ok: true });
  expect(await user.text({ action: "navigate", targetUrl: lab.at("/order") })).toContain("Send order");
  expect(await failed(user, click(ref))).toContain("is no longer on the page");
});

test("a page that goes on to other pages without end fails in time, and its tab is closed", async () => {
  const user = lab.user();
  await user.open("/home");
  const before = tabIds();
  const script = `<script>location.href = location.pathname + location.search.replace(/&n=.*/, '') + '&n=' + Math.random()</script>`;
  const { isError } = await user.call({ action: "open", targetUrl: lab.at(written(script)), timeoutMs: 1000 });
  if (isError) expect(tabIds()).toEqual(before);
  else await user.text({ action: "close" });
  expect(await failed(user, { action: "open", targetUrl: lab.at("/never"), timeoutMs: 300 })).toContain("did not answer within 300 ms");
  expect(tabIds()).toEqual(before);
  lab.site.release();
});

test("a click that opens tabs says so", async () => {
  const user = lab.user();
  const before = tabIds();
  const page = await user.open("/popup");
  expect(await user.act({ kind: "click", ref: refIn(page, "New tab") })).toMatch(/event: opened tab t\d+: http.*\/home|a new tab is being opened/);
  const many = await user.text({
    action: "navigate",
    targetUrl: lab.at(written(`<button onclick="for (let n = 0; n < 8; n += 1) window.open('/home?' + n)">Many</button>`)),
  });
  expect(await user.act({ kind: "click", ref: refIn(many, "Many") })).toMatch(/\d more tabs were closed at once: a page may have 5|a new tab is being opened/);
  for (const id of tabIds().filter((one) => !before.includes(one))) await lab.request("DELETE", `/tabs/${id}`);
});

test("of pages that open while tabs are being opened five stay, and no tab that was asked for is refused", async () => {
  const session = lab.opened.browser.session();
  const user = lab.user();
  const before = tabIds();
  await user.open(
    written(`<button>Here</button><script>let n = 0; const timer = setInterval(() => (n += 1) > 12 ? clearInterval(timer) : open('/home?' + n), 40);</script>`),
  );
  await Promise.all([1, 2, 3, 4].map(() => lab.user().open("/order")));
  await user.text({ action: "act", request: { kind: "wait", fn: "n > 12" } });
  await expect.poll(() => session.running()!.context.pages().length).toBe(before.length + 10);
  await expect.poll(() => tabIds().length).toBe(before.length + 10);
  for (const id of tabIds().filter((one) => !before.includes(one))) await lab.request("DELETE", `/tabs/${id}`);
});

test("pages that open each other do not use up the tabs of others", async () => {
  const user = lab.user();
  await user.open("/home");
  const before = tabIds();
  const script = "if (location.href.split('&n').length < 5) for (const n of [1, 2, 3]) window.open(location.href + '&n=' + n)";
  // The pages may all have been opened before the first answer.
  const refused = [await user.text({ action: "navigate", targetUrl: lab.at(written(`<button>Root</button><script>${script}</script>`)) })];
  await expect
    .poll(async () => refused.push(await user.text({ action: "snapshot" })) && refused.join("\n"), { timeout: 15_000 })
    .toMatch(/\d+ more tabs were closed at once: a page may have 5/);
  await expect.poll(() => tabIds().length).toBe(before.length + 5);
  expect(await lab.user().open("/order")).toContain("Send order");
  for (const id of tabIds().filter((one) => !before.includes(one))) await lab.request("DELETE", `/tabs/${id}`);
});

test("of a page that downloads without end only a few run, and it says so", async () => {
  const user = lab.user();
  await user.open("/home");
  const tab = lab.opened.browser.session().tabs().at(-1)!;
  const link = "Object.assign(document.createElement('a'), { href: '/slow-file?' + n, download: '' }).click()";
  await tab.page.evaluate(`let n = 0; const timer = setInterval(() => (n += 1) > 8 ? clearInterval(timer) : ${link}, 50)`);
  const cancelled = (): number => tab.notes.filter((line) => line.includes("at most 5 run at a time")).length;
  await expect.poll(cancelled, { timeout: 10_000 }).toBe(3);
  expect(tab.downloads.size).toBe(5);
  lab.site.release();
  expect(await user.text({ action: "snapshot" })).toContain("a download was cancelled: at most 5 run at a time");
});

test("a wrong selector says so and leaves the refs as they are", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  expect(await user.failure({ action: "snapshot", selector: "[[" })).toContain('"[[" is not a CSS selector');
  expect(await user.failure({ action: "snapshot", frame: "[[" })).toContain("is not a CSS selector");
  expect(refIn(await user.text({ action: "snapshot" }), "Send order")).toBe(refIn(page, "Send order"));
});

test("fill takes lists and boxes without their type, and fills nothing when one field cannot be filled", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  const [name, size, gift, send] = ["Name", "Size", "Gift", "Send order"].map((text) => refIn(page, text));
  const wrong = await user.failure({
    action: "act",
    request: {
      kind: "fill",
      fields: [
        { ref: name, value: "Ada" },
        { ref: send, value: "x" },
      ],
    },
  });
  expect(wrong).toContain(`${send} is a button, which cannot be filled; nothing was filled`);
  const filled = await user.act({
    kind: "fill",
    fields: [
      { ref: name, value: "Eve" },
      { ref: size, value: "Large" },
      { ref: gift, value: true },
    ],
  });
  expect(filled).toMatch(/Eve[\s\S]*Large[\s\S]*checked/);
  expect(filled).not.toContain("Ada");
});

test("limits are named: pauses, frames, ports", async () => {
  const user = lab.user();
  const page = await user.open(written("<iframe src='/item?n=1'></iframe>".repeat(12)));
  expect(page).toContain("2 more frames left out: ask for one with frame");
  expect(await failed(user, { action: "act", request: { kind: "wait", timeMs: 99_999_999 } })).toContain("timeMs is at most 30000");
  expect(await failed(user, { action: "navigate", targetUrl: "http://shop.test:99999/" })).toContain("ports end at 65535");
  expect(await failed(user, { action: "navigate" })).toContain("targetUrl required");
});

test("ten thousand buttons: what is far down is no change", async () => {
  const user = lab.user();
  const script = `<div id=all></div><script>all.innerHTML = Array.from({ length: 10000 }, (_, n) => '<button>b' + n + '</button>').join('')</script>`;
  const page = await user.open(written(script));
  await user.act({ kind: "hover", ref: refIn(page, '"b5"') });
  expect(await user.act({ kind: "hover", ref: refIn(page, '"b6"') })).not.toMatch(/^\+ /m);
  expect(await user.text({ action: "snapshot", maxChars: 80_000 })).not.toMatch(/maxChars up to|\b0 lines of text/);
});

test("a page that was closed for its dialogs says so with the next answer", async () => {
  const user = lab.user();
  await user.open("/home");
  const tab = lab.opened.browser.session().tabs().at(-1);
  tab?.page.evaluate("setTimeout(() => { for (;;) alert('again') }, 0)").catch(() => undefined);
  await expect.poll(() => tab?.ended).toBe("dialogs");
  const later = await user.text({ action: "snapshot" });
  expect(later).toContain("more than 10 dialogs in a row and was closed");
  expect(later).not.toContain("accepted");
});

test("refused requests are reported to the tab that made them", async () => {
  const [user, other] = [lab.user(), lab.user()];
  const quiet = await other.open(written("<button onclick='document.title = 1'>Quiet</button>"));
  const page = await user.open(written(`<button onclick="fetch('${lab.at("/secret", "inside.test")}').catch(() => 0)">Ask</button>`));
  const [asked, heard] = await Promise.all([user.act({ kind: "click", ref: refIn(page, "Ask") }), other.act({ kind: "click", ref: refIn(quiet, "Quiet") })]);
  expect(asked).toContain("request refused: inside.test");
  expect(heard).not.toContain("inside.test");
});

test("after a stop old tabs and refs mean nothing", async () => {
  const user = lab.user();
  const page = await user.open("/order");
  const [, id = ""] = /tab (t\d+)/.exec(page) ?? [];
  await user.text({ action: "stop" });
  await lab.user().open("/order");
  expect(await user.failure({ action: "act", request: { kind: "click", ref: refIn(page, "Send order") } })).toContain("take a snapshot and use its refs");
  expect(await user.failure({ action: "snapshot", targetId: id })).toContain(`there is no tab ${id}`);
});

test("a frame that cannot answer does not keep its page from being read", async () => {
  const user = lab.user();
  const page = await user.open(written(`<h1>Readable</h1><iframe src="file:///etc/passwd"></iframe><button>Go on</button>`));
  expect(page).toContain("Readable");
  expect(page).not.toContain("root:");
  expect(await user.text({ action: "act", request: { kind: "click", ref: refIn(page, "Go on") } })).toContain("Go on");
});

test("a script that gives back more than anyone can read is refused with the size", async () => {
  const user = lab.user();
  await user.open("/home");
  expect(await failed(user, { action: "act", request: { kind: "evaluate", fn: "() => 'x'.repeat(3000000)" } })).toContain("3000000 characters");
  expect(await user.text({ action: "act", request: { kind: "evaluate", fn: "() => 'short'" } })).toContain("short");
});
