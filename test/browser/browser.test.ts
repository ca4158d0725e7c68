import { afterAll, beforeAll, expect, test } from "vitest";
import { openLab, refIn, type Lab } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

test("a page is shown, and a click answers with what changed", async () => {
  const page = await lab.text({ action: "open", targetUrl: lab.at("/") });
  console.log(page);
  console.log(
    await lab.act({
      kind: "fill",
      fields: [
        { ref: refIn(page, "User"), value: "ada" },
        { ref: refIn(page, "Password"), value: "lamp" },
      ],
    }),
  );
  console.log(await lab.act({ kind: "click", ref: refIn(page, "Sign in") }));
  const s = await lab.text({ action: "navigate", targetUrl: lab.at("/search") });
  console.log(await lab.act({ kind: "type", ref: refIn(s, "Find"), text: "lamp", submit: true }));
  const started = performance.now();
  const l = await lab.text({ action: "navigate", targetUrl: lab.at("/large") });
  console.log(performance.now() - started, l.length, l.slice(0, 600), l.slice(-300));
  const t2 = performance.now();
  const sn = await lab.text({ action: "snapshot" });
  console.log(performance.now() - t2, sn.length);
  const t3 = performance.now();
  console.log(await lab.act({ kind: "click", ref: refIn(l, '"More"') }), performance.now() - t3);
  expect(1).toBe(1);
});
