import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";

function newPlace() {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 5 }));
  return { ...place, ask: (message: string) => place.start("agent", "--local", "--agent", "main", "--message", message) };
}

test("several agent --local on one state folder take turns, and each gets its own answer", { timeout: 120_000 }, async () => {
  const place = newPlace();
  const words = ["apple", "pear", "plum"];
  const answers = await Promise.all(words.map((word) => place.ask(`say ${word}`)));
  expect(answers.map(({ code, stdout }, at) => [code, stdout.includes(words[at]!)])).toEqual(words.map(() => [0, true]));
  expect(answers.some(({ stderr }) => stderr.includes("Waiting for it to finish"))).toBe(true);
  expect(answers.map(({ stderr }) => stderr).join("")).not.toContain("kill");
});

test("agent --local goes through a gateway that runs on the state folder, and says so", { timeout: 120_000 }, async () => {
  const place = newPlace();
  await using _gateway = await place.gateway();
  const { code, stdout, stderr } = await place.ask("say cherry");
  expect([code, stdout, stderr]).toEqual([
    0,
    expect.stringContaining("cherry"),
    expect.stringMatching(/A gateway is running on this state folder \(process \d+\) and answers/),
  ]);
});

test("a budget for each sender counts what clients ask for, under webchat", { timeout: 120_000 }, async () => {
  const place = newPlace();
  place.configure(`{ gateway: { mode: "local" }, usage: { budgets: [{ per: "day", tokens: 1, sender: "*" }] } }`);
  expect(await place.ask("say hello")).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
  const refused = await place.ask("say hello");
  expect(refused.stdout + refused.stderr).toContain("the budget per day (sender webchat) is used up");
  expect(JSON.parse(place.cli("models", "budgets", "--json").stdout)).toMatchObject({ budgets: [{ sender: "webchat", state: "stop" }] });
});
