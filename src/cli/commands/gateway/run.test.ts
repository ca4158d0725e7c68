import { expect, test } from "vitest";
import type { App } from "../../../app/index.ts";
import { greet } from "./run.ts";

async function greeted(over: Partial<App> = {}, terminal = true): Promise<string> {
  let said = "";
  const app = {
    url: "http://127.0.0.1:18789",
    consoleStyle: "pretty",
    loginLink: () => "http://127.0.0.1:18789/claw/#code=abc",
    answeringModel: async () => ({ model: "builtin/offline", offline: true, why: "no key was found" }),
    ...over,
  } as const;
  greet(app, { out: (text) => (said += text), color: false, runnable: (text: string) => text }, terminal);
  await Promise.resolve().then(() => {});
  return said;
}

test("a gateway started at a terminal prints its address, a login link, and which model answers and why", async () => {
  const said = await greeted();
  expect(said).toMatch(/address +http:\/\/127\.0\.0\.1:18789\/claw\/\n/);
  expect(said).toMatch(/log in +http:\/\/127\.0\.0\.1:18789\/claw\/#code=abc\n +this link works once, for 10 minutes/);
  expect(said).toMatch(/model +builtin\/offline\n +no key was found\n/);
});

test("without a page there is no link, and without a model the greeting says why", async () => {
  const said = await greeted({ loginLink: () => undefined, answeringModel: async () => ({ model: null, offline: false, why: "no such model" }) });
  expect(said).toMatch(/address +http:\/\/127\.0\.0\.1:18789\n/);
  expect(said).not.toContain("log in");
  expect(said).toMatch(/model +none\n +no such model/);
});

test("programs and services get nothing of it: no code is made and no key is looked for", async () => {
  const touched = (): never => {
    throw new Error("asked for");
  };
  const over = { loginLink: touched, answeringModel: touched };
  expect(await greeted(over, false)).toBe("");
  expect(await greeted({ ...over, consoleStyle: "json" })).toBe("");
});
