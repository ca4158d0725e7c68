/** Another program holds the gateway's database: it is named, nothing hangs in silence, and all goes on when it lets go. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { makePlace, type GatewayProcess } from "../harness/gateway-process.ts";
import { seedSessions } from "./seed.ts";

vi.setConfig({ testTimeout: 60_000 });

const TOKEN = "a-token-of-this-test-0123456789";
const CONFIG = JSON.stringify({
  gateway: { mode: "local", auth: { mode: "token", token: TOKEN }, http: { endpoints: { chatCompletions: { enabled: true } } } },
});
const HELD = new RegExp(`openclaw\\.db is locked for writing by process ${process.pid}\\b`);

function say(gateway: GatewayProcess): Promise<Response> {
  return fetch(`${gateway.url!.replace(/^ws/, "http").replace(/\/$/, "")}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "openclaw", messages: [{ role: "user", content: "hello" }] }),
  });
}

test.runIf(process.platform === "linux")(
  "while another process holds the database, messages are refused, and status and doctor name the file and the process",
  async () => {
    const place = makePlace();
    place.configure(CONFIG);
    await using gateway = await place.gateway();
    expect((await say(gateway)).status).toBe(200);
    expect(place.cli("status").stdout).not.toContain("locked for writing");
    using other = new DatabaseSync(join(place.stateDir, "openclaw.db"));
    other.exec("BEGIN IMMEDIATE");
    const refused = await say(gateway);
    expect([refused.status, await refused.json()]).toEqual([503, { error: expect.objectContaining({ code: "LOCKED", type: "unavailable" }) }]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(place.cli("status").stdout).toMatch(HELD);
    expect(place.cli("doctor").stdout).toMatch(HELD);
    // The next is refused without the long wait of the first: nothing else waits behind it.
    expect((await say(gateway)).status).toBe(503);
    other.exec("ROLLBACK");
    expect((await say(gateway)).status).toBe(200);
    expect(place.cli("status").stdout).not.toContain("locked for writing");
  },
);

test.runIf(process.platform === "linux")("a gateway that cannot open its database names who holds it", async () => {
  const place = makePlace();
  place.configure(CONFIG);
  mkdirSync(place.stateDir, { recursive: true });
  await seedSessions(place.stateDir, 1);
  using other = new DatabaseSync(join(place.stateDir, "openclaw.db"));
  // In the old mode of journals nobody may even look at it.
  other.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  await using gateway = await place.gateway();
  expect((await gateway.exited).code).toBe(1);
  expect(gateway.output()).toMatch(new RegExp(`could not open \\S+openclaw\\.db: process ${process.pid}\\b.* has locked it for writing`));
});
