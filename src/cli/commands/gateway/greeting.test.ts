import { expect, test } from "vitest";
import type { App } from "../../../app/index.ts";
import { greet } from "./greeting.ts";

async function greeted(over: Partial<App> = {}, terminal = true): Promise<string> {
  let said = "";
  const app = {
    url: "http://127.0.0.1:18789",
    consoleStyle: "pretty",
    loginLink: () => "http://127.0.0.1:18789/claw/#code=abc",
    answeringModel: async () => ({ model: "builtin/offline", offline: true, why: "no key was found" }),
    ...over,
  } as const;
  greet(app, { out: (text: string) => (said += text), color: false, env: {}, runnable: (text: string) => text }, { terminal, opens: false });
  await Promise.resolve().then(() => {});
  return said;
}

test("a gateway started at a terminal prints three lines: the link, the model that answers, and how to stop", async () => {
  const lines = (await greeted()).trim().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^Open +http:\/\/127\.0\.0\.1:18789\/claw\/#code=abc +works once, within 10 minutes; new link: openclaw dashboard$/);
  expect(lines[1]).toMatch(/^ +Model +Built-in offline model +use another: openclaw configure --section model$/);
  expect(lines[2]).toMatch(/^ +Stop +Ctrl\+C +chat from your phone: openclaw channels add$/);
});

test("without a page there is no link, and without a model the greeting says why", async () => {
  const said = await greeted({ loginLink: () => undefined, answeringModel: async () => ({ model: null, offline: false, why: "no such model" }) });
  expect(said).toMatch(/URL +http:\/\/127\.0\.0\.1:18789\n/);
  expect(said).not.toContain("dashboard");
  expect(said).toMatch(/Model +none +no such model/);
});

test("programs and services get nothing of it: no code is made and no key is looked for", async () => {
  const touched = (): never => {
    throw new Error("asked for");
  };
  const over = { loginLink: touched, answeringModel: touched };
  expect(await greeted(over, false)).toBe("");
  expect(await greeted({ ...over, consoleStyle: "json" })).toBe("");
});
