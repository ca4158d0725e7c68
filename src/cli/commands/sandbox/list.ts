import { formatDuration } from "../../../base/text.ts";
import { sandboxSettings, type ContainerEntry, type ContainerKind } from "../../../tools/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { kindOf, openSource, type SandboxSource } from "./source.ts";

interface Listed extends ContainerEntry {
  readonly state: "running" | "stopped" | "absent" | "unknown";
  readonly running: boolean;
  /** It was made from the image that is configured now. */
  readonly imageMatch: boolean;
  readonly ageMs: number;
  readonly idleMs: number;
}

async function listed({ config, stateDir, registry, docker }: SandboxSource, kind: ContainerKind, now: number): Promise<readonly Listed[]> {
  return await Promise.all(
    registry.list(kind).map(async (entry) => {
      const state = await docker.state(entry.containerName).catch(() => "unknown" as const);
      const agentId = /^agent:([^:]+)/.exec(entry.sessionKey)?.[1] ?? "main";
      const { image } = sandboxSettings(config, agentId, stateDir).docker;
      const imageMatch = kind === "browsers" || image === entry.image;
      return {
        ...entry,
        state,
        running: state === "running",
        imageMatch,
        ageMs: Math.max(0, now - entry.createdAtMs),
        idleMs: Math.max(0, now - entry.lastUsedAtMs),
      };
    }),
  );
}

export const list = defineCommand({
  options: { browser: { type: "boolean", help: "only the browsers' containers" }, json: JSON_OPTION },
  examples: [{ line: "openclaw sandbox list", does: "each container, its age and whether it runs" }],
  async run({ io, values }) {
    const source = openSource(io);
    const [containers, browsers] = await Promise.all([values.browser ? [] : listed(source, "containers", io.now()), listed(source, "browsers", io.now())]);
    if (values.json) return printJson(io, { containers, browsers });
    const rows = [...containers, ...browsers];
    if (rows.length === 0) return io.out(`no ${kindOf(values.browser)} were made\n`);
    const style = createStyle(io.color);
    const cells = rows.map((row) => [
      row.containerName,
      row.running ? style.green(row.state) : style.yellow(row.state),
      row.imageMatch ? row.image : style.yellow(`${row.image} (another is configured)`),
      formatDuration(row.ageMs),
      formatDuration(row.idleMs),
      row.sessionKey,
    ]);
    io.out(formatTable(["Container", "State", "Image", "Age", "Idle", "Scope"], cells, { style, columns: io.columns }));
  },
});
