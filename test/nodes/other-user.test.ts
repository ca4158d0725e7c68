/** The node host as another user than the gateway: what that user may not reach stays out of reach, and what it makes is that user's. */
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";
import { AS_NOBODY, giveToNobody, needNobody } from "../harness/privileges.ts";
import { start } from "../security/start.ts";
import { startHost } from "./host-process.ts";
import { connectOperator } from "./lab.ts";

test("commands and files of a node are those of its user", { timeout: 120_000 }, async (context) => {
  needNobody(context);
  await using gateway = await start({ gateway: { nodes: { allowCommands: ["file.read", "file.write"] } } });
  await using operator = await connectOperator(gateway);
  const place = makePlace();
  const shared = join(place.home, "shared");
  mkdirSync(shared);
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  place.configure(JSON.stringify({ nodeHost: { files: { folders: [shared], write: true } }, tools: { exec: { security: "full", ask: "off" } } }));
  writeFileSync(join(place.stateDir, "exec-approvals.json"), JSON.stringify({ version: 1, defaults: { security: "full", ask: "off" } }), { mode: 0o600 });
  const [open, closed, folder] = [join(shared, "open.txt"), join(shared, "closed.txt"), join(shared, "closed")];
  writeFileSync(open, "open");
  writeFileSync(closed, "closed", { mode: 0o600 });
  mkdirSync(folder, { mode: 0o700 });
  giveToNobody(place.home, shared, open, place.stateDir, place.configPath, join(place.stateDir, "exec-approvals.json"));
  chmodSync(closed, 0o600);
  await using host = startHost(gateway.url, { place, name: "Other", wrap: AS_NOBODY });
  await host.waitFor("connected to");
  const nodes = (await operator.ask("node.list", {})).payload!["nodes"] as readonly { readonly nodeId: string }[];
  const { nodeId } = nodes[0]!;
  let count = 0;
  const invoke = async (command: string, params: object) => {
    const { payload, error } = await operator.request("node.invoke", { nodeId, command, params, idempotencyKey: `other-${(count += 1)}` });
    return { result: payload?.["payload"] as Readonly<Record<string, unknown>> | undefined, error: error?.message };
  };
  const run = (script: string) => invoke("system.run", { command: ["/bin/sh", "-lc", script], agentId: "main" });

  expect((await run("id -u; id -G")).result).toMatchObject({ stdout: "65534\n65534\n", exitCode: 0 });
  expect((await run(`cat ${closed}`)).result).toMatchObject({ success: false, stdout: "", stderr: expect.stringContaining("Permission denied") });
  const made = join(shared, "made.txt");
  expect((await invoke("file.write", { path: made, base64: "aGk=" })).error).toBeUndefined();
  expect(statSync(made)).toMatchObject({ uid: 65_534, gid: 65_534 });
  expect((await invoke("file.read", { path: open })).result).toMatchObject({ base64: Buffer.from("open").toString("base64") });
  expect((await invoke("file.read", { path: closed })).error).toContain("could not open");
  expect((await invoke("file.write", { path: join(folder, "x"), base64: "aGk=" })).error).toBeDefined();
  expect(existsSync(join(folder, "x"))).toBe(false);
  expect((await run(`cat ${gateway.place.configPath}`)).result).toMatchObject({ success: false, stdout: "" });
});
