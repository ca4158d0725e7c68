import { homedir } from "node:os";
import { rmSync } from "node:fs";
import { parse } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { homeFolder } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { belongingsOf, isInside, outermost, type Belongings } from "./belongings.ts";

const OPTIONS = {
  service: { type: "boolean", help: "Remove the gateway service" },
  state: { type: "boolean", help: "Delete the state folder, configuration and credentials" },
  workspace: { type: "boolean", help: "Delete the workspaces of all agents" },
  app: { type: "boolean", help: "Delete the macOS app" },
  all: { type: "boolean", help: "All of these" },
  yes: { type: "boolean", help: "Don't ask for confirmation" },
  "non-interactive": { type: "boolean", help: "Don't ask; needs --yes and what to remove" },
  "dry-run": { type: "boolean", help: "Show what would be removed" },
  json: JSON_OPTION,
} as const;

const PARTS = ["service", "state", "workspace", "app"] as const;
type Part = (typeof PARTS)[number];

const APP = "/Applications/OpenClaw.app";

function chosenParts(values: Values<typeof OPTIONS>, io: Io): readonly Part[] {
  if (values.all) return PARTS;
  const parts = PARTS.filter((part) => values[part]);
  if (parts.length > 0) return parts;
  if (values["non-interactive"] || !io.interactive)
    throw new AppError("INVALID_INPUT", "expected what to remove: --service, --state, --workspace, --app or --all");
  return ["service", "state"];
}

function pathsOf(parts: readonly Part[], { state, config, credentials, workspaces }: Belongings): readonly string[] {
  return outermost([
    ...(parts.includes("state") ? [state, config, credentials] : []),
    ...(parts.includes("workspace") ? workspaces : []),
    ...(parts.includes("app") && process.platform === "darwin" ? [APP] : []),
  ]);
}

/** A path that a variable or a setting has wrong is not deleted: the root, the home folder, or anything that either is in. */
function refuseBroad(paths: readonly string[], io: Io): void {
  const home = homeFolder({ env: io.env, cwd: io.cwd, exists: () => false, osHome: homedir() });
  for (const path of paths) {
    if (isInside(home, path) || isInside(homedir(), path) || path === parse(path).root) {
      throw new AppError("INVALID_INPUT", `${path} contains other files too; delete OpenClaw's files there by hand`);
    }
  }
}

async function removeService(io: Io): Promise<string | undefined> {
  const { installedService } = await import("../gateway/service/service.ts");
  const service = installedService(io);
  if (!service) return undefined;
  const { uninstallService } = await import("../gateway/install.ts");
  await uninstallService({ ...io, out: io.err }, service, {}, "openclaw gateway stop");
  return service.label;
}

/** Workspaces that would go with the state folder they lie in, although nobody asked for that. */
function takenAlong(parts: readonly Part[], { state, workspaces }: Belongings): readonly string[] {
  return parts.includes("state") && !parts.includes("workspace") ? outermost(workspaces.filter((folder) => isInside(folder, state))) : [];
}

export const uninstall = defineCommand({
  options: OPTIONS,
  examples: [
    { line: "openclaw uninstall --all --dry-run", does: "Show what would be removed" },
    { line: "openclaw uninstall --service --yes", does: "Remove only the service; keep all data" },
  ],
  async run({ io, values }) {
    const parts = chosenParts(values, io);
    const belongings = await belongingsOf(io);
    const along = takenAlong(parts, belongings);
    const paths = pathsOf(parts, belongings);
    refuseBroad(paths, io);
    if (values["dry-run"]) {
      if (values.json) printJson(io, { ok: true, dryRun: true, parts, paths, kept: along });
      else {
        if (parts.includes("service")) io.out("[dry-run] stop the gateway and remove its service\n");
        io.out(paths.map((path) => `[dry-run] delete ${path}\n`).join(""));
        io.out(along.map((path) => `[dry-run] keep ${path}: it is moved out of the state folder\n`).join(""));
      }
      return 0;
    }
    if (!values.yes && (values["non-interactive"] || !io.interactive))
      throw new AppError("INVALID_INPUT", "without a terminal, --yes is required; use --dry-run to see what would happen");
    if (!values.yes) {
      io.err(`This permanently deletes (make a copy first with: openclaw backup create):\n${paths.map((path) => `  ${path}\n`).join("")}`);
      if (!(await io.confirm("Delete them?"))) {
        io.err("No changes made\n");
        return 0;
      }
    }
    return remove(io, { parts, paths, along, state: belongings.state, json: values.json === true });
  },
});

interface Removal {
  readonly parts: readonly Part[];
  readonly paths: readonly string[];
  readonly along: readonly string[];
  readonly state: string;
  readonly json: boolean;
}

async function remove(io: Io, { parts, paths, along, state, json }: Removal): Promise<number> {
  const { stopGateway } = await import("../gateway/stop.ts");
  const stopped = await stopGateway(io, state);
  const service = parts.includes("service") ? await removeService(io) : undefined;
  const { moveOut, stampOf } = await import("../../../setup/index.ts");
  const kept = along.map((folder) => moveOut(folder, state, stampOf(io.now())));
  for (const path of paths) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      throw fileError(path, "could not delete", error);
    }
  }
  if (json)
    printJson(io, { ok: true, parts, ...(stopped.pid === undefined ? {} : { stopped: stopped.pid }), ...(service ? { service } : {}), deleted: paths, kept });
  else {
    io.out(paths.map((path) => `Deleted ${path}\n`).join(""));
    io.out(kept.map(({ from, to }) => `Kept ${from} as ${to}\n`).join(""));
    io.out("The program itself is still installed. Delete its folder or uninstall its package.\n");
  }
  return 0;
}
