import { createTestHost } from "openclaw/plugin-sdk/testing";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const plugins = [fileURLToPath(new URL(".", import.meta.url))];
const prompt = (text: string) => ({ prompt: text, messages: [] });

test("what was remembered comes back when it matters, and only then", async () => {
  await using host = await createTestHost({ plugins });
  expect(await host.command("/remember the cat is called Ada")).toEqual({ text: "I will remember that." });
  await host.command("/remember the  bins go out on Tuesday");
  expect(await host.hooks.run("before_prompt_build", prompt("What is my cat called?"))).toMatchObject({
    prependContext: "Facts the user asked you to remember:\n- the cat is called Ada",
  });
  expect(await host.hooks.run("before_prompt_build", prompt("Good morning!"))).toBeUndefined();
});

test("a fact survives a reload, is kept once and can be forgotten", async () => {
  await using host = await createTestHost({ plugins });
  await host.command("/remember the cat is called Ada");
  await host.command("/remember The cat is called Ada");
  await host.reload("memory-injection");
  const result = await host.hooks.run("before_prompt_build", prompt("cat"));
  expect(result?.prependContext?.match(/Ada/g)).toHaveLength(1);
  expect(await host.command("/forget cat")).toEqual({ text: "Forgot 1 fact." });
  expect(await host.command("/forget cat")).toEqual({ text: "No matching facts." });
  expect(await host.hooks.run("before_prompt_build", prompt("cat"))).toBeUndefined();
});

test("no more facts than wanted are kept and shown", async () => {
  const config = { plugins: { entries: { "memory-injection": { config: { mostFacts: 3, mostInPrompt: 2 } } } } };
  await using host = await createTestHost({ plugins, config });
  for (const name of ["one", "two", "three", "four"]) await host.command(`/remember cat number ${name}`);
  const { prependContext = "" } = (await host.hooks.run("before_prompt_build", prompt("cat number one two three four"))) ?? {};
  expect(prependContext.split("\n")).toHaveLength(3);
  expect(prependContext).not.toContain("number one");
});

test("the next turn of the session is notified, if the operator lets plugins into prompts", async () => {
  await using host = await createTestHost({ plugins });
  await host.command("/remember tea, not coffee", { sessionKey: "agent:main:main" });
  await host.command("/remember tea, not coffee", { sessionKey: "agent:main:main" });
  expect(host.diagnostics().filter(({ level }) => level === "error")).toEqual([]);
  expect(host.plugins()[0]).toMatchObject({ status: "loaded", commands: ["remember", "forget"], hookNames: ["before_prompt_build"] });
  const config = { plugins: { entries: { "memory-injection": { hooks: { allowPromptInjection: false } } } } };
  await using quiet = await createTestHost({ plugins, config });
  await quiet.command("/remember tea, not coffee");
  expect((await quiet.hooks.run("before_prompt_build", prompt("tea")))?.prependContext).toBeUndefined();
});

test("a fact from a chat reaches the session's next turn, once", async () => {
  await using host = await createTestHost({ plugins });
  host.script(["good morning", "as you said"]);
  const say = (text: string) => host.receive({ channel: "demo", from: "ada", text });
  expect(await say("/remember tea, not coffee")).toMatchObject({ outcome: "answered", replies: [{ text: "I will remember that." }] });
  await say("good morning!");
  await say("how are you?");
  const reminded = host.modelCalls().map(({ messages }) => JSON.stringify(messages.at(-1)).includes("asked to remember: tea, not coffee"));
  expect(reminded).toEqual([true, false]);
});
