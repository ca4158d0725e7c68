import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAgentSurface, type AgentSurface } from "../harness/agent-surface.ts";
import type { Frame } from "../harness/gateway-client.ts";

const CONFIG = `{
  // Who answers.
  agents: {
    list: [
      { id: "main", default: true }, // the first one
      { id: "ops", name: "Ops", workspace: "\${OPS_HOME}", model: { primary: "a/b", fallbacks: ["c/d"] } },
      { id: "late", identity: { theme: "calm" } },
    ],
  },
  env: { vars: { OPS_HOME: "/somewhere" } },
  bindings: [
    { agentId: "ops", match: { channel: "telegram" } },
    // stays
    { agentId: "late", match: { channel: "discord" } },
    { agentId: "OPS", match: { channel: "slack" } },
  ],
  broadcast: { "1@g.us": ["ops"], "2@g.us": ["late", "ops"] },
  tools: { agentToAgent: { allow: ["main", "ops"] } },
}
`;

interface Listed {
  readonly defaultId: string;
  readonly agents: readonly { readonly id: string; readonly name?: string; readonly identity?: object }[];
}

async function open(config: object | string = {}) {
  const gateway = await openAgentSurface({ config });
  const client = await gateway.client();
  const text = (): string => readFileSync(gateway.config.paths.file, "utf8");
  const ask = (method: string, params: object): Promise<Frame> => client.request(method, params);
  const list = async (): Promise<Listed> => (await ask("agents.list", {})).payload as unknown as Listed;
  const refusal = async (method: string, params: object): Promise<string | undefined> => (await ask(method, params)).error?.message;
  return { gateway, ask, list, refusal, text, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const trashOf = ({ folder }: AgentSurface): string[] => {
  const trash = join(folder, "trash");
  return existsSync(trash) ? readdirSync(trash, { recursive: true, encoding: "utf8" }).sort() : [];
};

test("agents.create adds an agent beside the one that needs no configuration, with a workspace and its first files, and it is there at once", async () => {
  await using at = await open("{\n  // mine\n}\n");
  const workspace = join(at.gateway.folder, "home of ada");
  const params = { name: " Ada Lovelace! ", workspace: "~/home of ada", emoji: "🧮", idempotencyKey: "ada-1" };
  const { payload } = await at.ask("agents.create", params);
  expect(payload).toEqual({ ok: true, agentId: "ada-lovelace", name: "Ada Lovelace!", workspace });
  expect(readdirSync(workspace)).toEqual(expect.arrayContaining(["AGENTS.md", "SOUL.md", "BOOTSTRAP.md"]));
  expect(await at.list()).toMatchObject({
    defaultId: "main",
    agents: [{ id: "main" }, { id: "ada-lovelace", name: "Ada Lovelace!", identity: { emoji: "🧮" } }],
  });
  expect(at.text()).toContain("// mine");
  expect((await at.ask("agents.files.list", { agentId: "ada-lovelace" })).payload).toMatchObject({ workspace });

  const written = at.text();
  expect((await at.ask("agents.create", params)).payload).toEqual(payload);
  expect(at.text()).toBe(written);
});

test("agents.create refuses what cannot be an agent, and makes nothing", async () => {
  await using at = await open({ agents: { list: [{ id: "main" }, { id: "Ops" }] } });
  const workspace = join(at.gateway.folder, "never");
  expect(await at.refusal("agents.create", { name: "MAIN", workspace })).toBe('"main" is reserved');
  expect(await at.refusal("agents.create", { name: "ops", workspace })).toBe('agent "ops" already exists');
  expect(await at.refusal("agents.create", { name: "!!!", workspace })).toContain("needs a letter");
  expect(existsSync(workspace)).toBe(false);
  const before = at.text();
  expect(await at.refusal("agents.create", { name: "new", workspace, avatar: "../out.png" })).toContain("must not leave the workspace");
  expect(at.text()).toBe(before);
});

test("agents.update changes what is given and leaves comments, variables and the rest alone", async () => {
  await using at = await open(CONFIG);
  expect((await at.ask("agents.update", { agentId: "OPS", name: "Operations", model: "e/f", avatar: "me.png" })).payload).toEqual({ ok: true, agentId: "ops" });
  expect(at.gateway.config.current.agents?.list?.[1]).toMatchObject({
    name: "Operations",
    workspace: "/somewhere",
    model: { primary: "e/f", fallbacks: ["c/d"] },
    identity: { avatar: "me.png" },
  });
  for (const kept of ["// Who answers.", "// the first one", "${OPS_HOME}", "// stays"]) expect(at.text()).toContain(kept);
  const workspace = join(at.gateway.folder, "new-place");
  await at.ask("agents.update", { agentId: "late", workspace, model: "g/h" });
  expect(at.gateway.config.current.agents?.list?.[2]).toMatchObject({ workspace, model: "g/h", identity: { theme: "calm" } });
  expect(existsSync(join(workspace, "SOUL.md"))).toBe(true);
  await at.ask("agents.update", { agentId: "ops", avatar: "" });
  expect(at.text()).not.toContain("me.png");
  expect(await at.refusal("agents.update", { agentId: "nobody", name: "x" })).toBe('agent "nobody" not found');
});

test("agents.update lists the agent that needs no configuration", async () => {
  await using at = await open();
  expect((await at.ask("agents.update", { agentId: "main", name: "Me" })).ok).toBe(true);
  expect(await at.list()).toMatchObject({ defaultId: "main", agents: [{ id: "main", name: "Me" }] });
});

test("a change that a user wrote into the file in the meantime is kept", async () => {
  await using at = await open({ agents: { list: [{ id: "main" }] } });
  writeFileSync(at.gateway.config.paths.file, '{ agents: { list: [{ id: "main", name: "Mine" }, { id: "hand" }] } } // by hand\n');
  const made = await Promise.all(["one", "two"].map((name) => at.ask("agents.create", { name, workspace: join(at.gateway.folder, name) })));
  expect(made.map(({ ok }) => ok)).toEqual([true, true]);
  const { agents } = await at.list();
  expect(agents.slice(0, 2)).toEqual([{ id: "main", name: "Mine" }, { id: "hand" }]);
  expect(
    agents
      .slice(2)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(["one", "two"]);
  expect(at.text()).toContain("// by hand");
  expect(await at.refusal("agents.create", { name: "hand", workspace: join(at.gateway.folder, "x") })).toBe('agent "hand" already exists');
});

test("agents.delete takes the agent, what routes to it and its files away; nothing is erased", async () => {
  await using at = await open(CONFIG.replace("${OPS_HOME}", "~/ops"));
  const { folder } = at.gateway;
  await at.ask("agents.update", { agentId: "ops", workspace: "~/ops" });
  mkdirSync(join(folder, "agents", "ops", "agent"), { recursive: true });
  writeFileSync(join(folder, "agents", "ops", "agent", "auth-profiles.json"), "{}");
  expect((await at.ask("agents.delete", { agentId: "Ops" })).payload).toEqual({ ok: true, agentId: "ops", removedBindings: 2 });
  const { current } = at.gateway.config;
  expect(current.agents?.list?.map(({ id }) => id)).toEqual(["main", "late"]);
  expect(current.bindings).toEqual([{ agentId: "late", match: { channel: "discord" } }]);
  expect(current.broadcast).toEqual({ "2@g.us": ["late"] });
  expect(current.tools?.agentToAgent?.allow).toEqual(["main"]);
  for (const kept of ["// Who answers.", "// the first one", "// stays"]) expect(at.text()).toContain(kept);
  expect([existsSync(join(folder, "ops")), existsSync(join(folder, "agents", "ops"))]).toEqual([false, false]);
  const put = trashOf(at.gateway).map((path) => path.replace(/^ops-\d{4}-\d\d-\d\d-[0-9a-f]+/, "T"));
  expect(put).toEqual(expect.arrayContaining(["T/workspace/SOUL.md", "T/agent/agent/auth-profiles.json"]));
  expect(await at.refusal("agents.delete", { agentId: "ops" })).toBe('agent "ops" not found');
  expect(await at.refusal("agents.delete", { agentId: "main" })).toBe('"main" cannot be deleted');
});

test("agents.delete leaves the files where they are when asked to, and those that others need", async () => {
  const list = [{ id: "main" }, { id: "a" }, { id: "b", workspace: "/nowhere/b" }, { id: "c" }];
  await using at = await open({ agents: { list } });
  const { folder } = at.gateway;
  for (const agentId of ["a", "b"]) await at.ask("agents.update", { agentId, workspace: join(folder, "shared") });
  await at.ask("agents.update", { agentId: "c", workspace: folder });
  await at.ask("agents.delete", { agentId: "c" });
  await at.ask("agents.delete", { agentId: "b" });
  expect([existsSync(join(folder, "shared", "SOUL.md")), existsSync(at.gateway.config.paths.file), trashOf(at.gateway)]).toEqual([true, true, []]);
  await at.ask("agents.delete", { agentId: "a", deleteFiles: false });
  expect([existsSync(join(folder, "shared", "SOUL.md")), trashOf(at.gateway)]).toEqual([true, []]);
  expect((await at.list()).agents).toEqual([{ id: "main" }]);
});

test("agents.create begins with a template when one is named, and refuses an unknown one before anything is made", async () => {
  await using at = await open({ agents: { list: [{ id: "main" }] } });
  const { templates } = (await at.ask("agents.templates", {})).payload as unknown as { templates: readonly { id: string; summary: string }[] };
  expect(templates.map(({ id }) => id)).toEqual(["personal", "coder", "family", "readonly"]);
  const workspace = join(at.gateway.folder, "docs");
  expect(await at.refusal("agents.create", { name: "Docs", workspace, template: "reader" })).toContain("there is no template");
  expect(existsSync(workspace)).toBe(false);
  expect((await at.ask("agents.create", { name: "Docs", workspace, template: "readonly", emoji: "📚" })).ok).toBe(true);
  expect(at.gateway.config.current.agents?.list?.[1]).toMatchObject({
    identity: { emoji: "📚", theme: "patient librarian" },
    tools: { fs: { workspaceOnly: true } },
  });
  expect(readFileSync(join(workspace, "IDENTITY.md"), "utf8")).toContain("**Emoji:** 📚");
});

test("agents.create refuses a workspace that is not its own, and one that is refused leaves no folder", async () => {
  await using at = await open({ agents: { list: [{ id: "main" }, { id: "ops", workspace: "~/ops" }] } });
  const { folder } = at.gateway;
  expect(await at.refusal("agents.create", { name: "x", workspace: "~/ops/x" })).toContain('inside that of agent "ops"');
  expect(await at.refusal("agents.create", { name: "x", workspace: folder })).toContain("would contain");
  expect(await at.refusal("agents.create", { name: "x", workspace: "~/x", avatar: "../out.png" })).toContain("must not leave the workspace");
  expect([existsSync(join(folder, "ops")), existsSync(join(folder, "x"))]).toEqual([false, false]);
});

test("agents.delete refuses the default agent and says how to make another one that", async () => {
  await using at = await open({ agents: { list: [{ id: "main" }, { id: "boss", default: true }] } });
  expect(await at.refusal("agents.delete", { agentId: "boss" })).toContain("openclaw config set agents.list[0].default true");
  expect((await at.list()).agents.map(({ id }) => id)).toEqual(["main", "boss"]);
});
