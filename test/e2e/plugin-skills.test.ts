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

function skill(name: string, more = ""): void {
  const place = join(folder, "helper", "skills", name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "SKILL.md"), `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n\nDo it.\n`);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "plugin-skills-"));
  started = join(folder, "started.json");
  skill("garden");
  skill("hidden", "user-invocable: false\n");
  skill("shouter", "command-dispatch: tool\ncommand-tool: shout\n");
  writeFileSync(join(folder, "helper", "openclaw.plugin.json"), JSON.stringify({ id: "helper", configSchema: {}, skills: ["./skills"] }));
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
async function said(message: string): Promise<string> {
  const sessionKey = `agent:main:skills-${(serial += 1)}`;
  const { payload, error } = await gateway.operator.request("agent", { sessionKey, message, idempotencyKey: sessionKey });
  const { payloads = [] } = (payload?.["result"] ?? {}) as { payloads?: readonly { text: string }[] };
  return payloads.map(({ text }) => text).join("\n") || String(error?.message);
}

test("the agent is told about the skills of a plugin", async () => {
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
  expect(await said("/skill hidden now")).toMatch(/^No skill is called "hidden"\. Skills: /);
  expect(await said("/skill nothing-there")).toMatch(/^No skill is called "nothing-there"\. Skills: .*garden/);
  expect(await said("/skill")).toMatch(/^Usage: \/skill <name>/);
  expect(gateway.model.requests.length).toBe(asked);
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
