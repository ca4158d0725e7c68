import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import type { SandboxPlan } from "../backend.ts";
import { sandboxSettings } from "../settings.ts";
import { createBwrap } from "./bwrap.ts";

test("retries a program that failed to start, and uses each program's own options", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bwrap-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  function program(name: string, text: string): string {
    const file = join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  }
  const planOf = (command: string): SandboxPlan => {
    const settings = sandboxSettings({ agents: { defaults: { sandbox: { backend: "bwrap", bwrap: { command } } } } }, "main", folder);
    const scope = { key: "agent:main", folder } as unknown as SandboxPlan["scope"];
    return { settings, scope, workspaceDir: folder, mounts: [{ inside: "/workspace", host: folder, writable: true }] };
  };
  const backend = createBwrap({ clock: manualClock(), ids: createIds(systemRandom), stateDir: folder, env: {}, home: folder, uid: 1, warn: () => {} });
  const command = { argv: ["/bin/true"], cwd: "/", env: {}, path: "/bin" } as const;

  const plan = planOf(program("bwrap", "#!/nowhere/at/all\n"));
  expect(await backend.availability(plan)).toMatchObject({ ok: false });
  program("bwrap", "#!/bin/sh\necho --size\n");
  expect(await backend.availability(plan)).toEqual({ ok: true });

  const older = planOf(program("older", "#!/bin/sh\nexit 0\n"));
  expect(await backend.availability(older)).toEqual({ ok: true });
  expect(backend.command(plan, command).args).toContain("--size");
  expect(backend.command(older, command).args).not.toContain("--size");
});
