/** What plugins bring besides code: skills, and what happens when the gateway has started. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let folder: string;
let gateway: LabGateway;
let started: string;

function skill(name: string, more = "", root = "skills"): void {
  const place = join(folder, "helper", root, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "SKILL.md"), `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n\nDo it.\n`);
}

const brings = (...skills: string[]): void =>
  writeFileSync(join(folder, "helper", "openclaw.plugin.json"), JSON.stringify({ id: "helper", configSchema: {}, skills }));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "plugin-skills-"));
  started = join(folder, "started.json");
  skill("garden");
  skill("hidden", "user-invocable: false\n");
  skill("shouter", "command-dispatch: tool\ncommand-tool: shout\n");
  skill("quiet", "disable-model-invocation: true\n");
  mkdirSync(join(folder, "helper", "skills", "broken"));
  writeFileSync(join(folder, "helper", "skills", "broken", "SKILL.md"), "---\nname: broken\n");
  brings("./skills");
  writeFileSync(
    join(folder, "helper", "index.mjs"),
    `import { writeFileSync } from "node:fs";
export default (api) => {
  api.registerHook("gateway:startup", ({ type, action, context }) => writeFileSync(${JSON.stringify(started)}, JSON.stringify({ type, action, port: context.port, workspaceDir: context.workspaceDir })), { name: "startup" });
  api.registerTool({
    name: "shout",
    description: "shouts",
    parameters: { type: "object", properties: { command: { type: "string" }, commandName: { type: "string" }, skillName: { type: "string" } } },
    execute: async (_id, { command, skillName }) => ({ content: [{ type: "text", text: skillName + ": " + command.toUpperCase() }] }),
  });
};
`,
  );
  gateway = await startLabGateway({
    sections: {
      hooks: { internal: { enabled: true } },
      plugins: { load: { paths: [join(folder, "helper")] }, allow: ["helper"], entries: { helper: { enabled: true } } },
    },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

let serial = 0;
async function said(message: string, session = `skills-${(serial += 1)}`): Promise<string> {
  const sessionKey = `agent:main:${session}`;
  const { payload, error } = await gateway.operator.request("agent", { sessionKey, message, idempotencyKey: `${sessionKey}-${(serial += 1)}` });
  const { payloads = [] } = (payload?.["result"] ?? {}) as { payloads?: readonly { text: string }[] };
  return payloads.map(({ text }) => text).join("\n") || String(error?.message);
}

test("the agent is shown the skills of a plugin", async () => {
  await said("say w-skills");
  const { body } = gateway.model.requests.findLast(({ user }) => user.includes("w-skills"))!;
  expect(body).toContain("garden");
  expect(body).toContain(join(folder, "helper", "skills", "garden", "SKILL.md"));
});

test("users call the skills that may be called: with the model, or with the tool that the skill names", async () => {
  await said("/garden w-roses");
  expect(gateway.model.requests.at(-1)!.user).toMatch(/Use the skill "garden"[^]*w-roses/);
  const asked = gateway.model.requests.length;
  expect(await said("/shouter good morning")).toBe("shouter: GOOD MORNING");
  expect(await said("/skill hidden now")).toMatch(/^There is no skill "hidden"\. Skills: /);
  expect(await said("/skill nothing-there")).toMatch(/^There is no skill "nothing-there"\. Skills: .*garden/);
  expect(await said("/skill")).toMatch(/^Usage: \/skill <name>/);
  expect(gateway.model.requests.length).toBe(asked);
});

test("a skill that only users call is not in the prompt; the call names its file", async () => {
  await said("/quiet w-moss");
  const { user, body } = gateway.model.requests.at(-1)!;
  const file = join(folder, "helper", "skills", "quiet", "SKILL.md");
  expect(user).toContain(`Use the skill "quiet" for this request. Its instructions are in ${file}`);
  expect(body).not.toContain("<name>quiet</name>");
});

test("internal hooks hear that the gateway has started", async () => {
  await expect.poll(() => existsSync(started) && readFileSync(started, "utf8") !== "", PATIENCE).toBe(true);
  expect(JSON.parse(readFileSync(started, "utf8"))).toMatchObject({
    type: "gateway",
    action: "startup",
    port: expect.any(Number),
    workspaceDir: gateway.workspace,
  });
});

test("a session that is open sees the skills that a plugin brings after its reload, and those that the configuration turns off", async () => {
  const known = async (word: string): Promise<string[]> => {
    await said(`say ${word}`, "open-all-the-time");
    const { body } = gateway.model.requests.findLast(({ user }) => user.includes(word))!;
    return ["garden", "orchard", "meadow"].filter((name) => body.includes(join(name, "SKILL.md")));
  };
  const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const { payload, error } = await gateway.operator.request(method, params);
    if (error) throw new Error(error.message);
    return payload!;
  };
  expect(await known("w-first")).toEqual(["garden"]);
  skill("orchard", "", "more");
  skill("meadow", "", "more");
  brings("./skills", "./more");
  expect(await known("w-second")).toEqual(["garden"]);
  await ask("plugins.reload", { id: "helper" });
  expect(await known("w-third")).toEqual(["garden", "orchard", "meadow"]);
  brings("./more");
  await ask("plugins.reload", { id: "helper" });
  expect(await known("w-fourth")).toEqual(["orchard", "meadow"]);
  const { raw, hash } = (await ask("config.get", {})) as { raw: string; hash: string };
  await ask("config.set", { raw: JSON.stringify({ ...(JSON.parse(raw) as object), skills: { entries: { orchard: { enabled: false } } } }), baseHash: hash });
  expect(await known("w-fifth")).toEqual(["meadow"]);
  await ask("config.set", { raw, baseHash: ((await ask("config.get", {})) as { hash: string }).hash });
  brings("./skills");
  await ask("plugins.reload", { id: "helper" });
  expect(await known("w-sixth")).toEqual(["garden"]);
});
