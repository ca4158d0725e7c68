import { formatDuration } from "../../../../base/text.ts";
import { defineCommand, JSON_OPTION } from "../../../command.ts";
import { printJson, type Io } from "../../../io.ts";
import { createStyle } from "../../../output/style.ts";
import { formatTable } from "../../../output/table.ts";
import { findRests, restLine, type RestRow } from "./rests.ts";
import { AGENT_OPTION, openAuth, type AuthView } from "./source.ts";

type Profile = Awaited<ReturnType<AuthView["auth"]["list"]>>[number];

function stateOf({ unusable, rests, expires, type }: Profile, now: number): string {
  if (unusable !== undefined) return unusable;
  if (rests.length > 0) {
    return rests.map(({ kind, until, modelId }) => `${modelId ?? "all models"} rests ${formatDuration(until - now)} after ${kind}`).join("; ");
  }
  if (expires === undefined) return "ok";
  if (expires <= now) return "has run out; renewed when it is used";
  return `ok, ${type === "oauth" ? "renewed" : "ends"} in ${formatDuration(expires - now)}`;
}

function print(io: Io, view: AuthView, profiles: readonly Profile[], rests: readonly RestRow[]): void {
  const style = createStyle(io.color);
  io.out(`${style.dim(`agent ${view.agentId}, ${view.auth.storePath}`)}\n`);
  if (profiles.length === 0) io.out(io.runnable("no credentials are stored; add one with: openclaw models auth add --provider <id>\n"));
  else printProfiles(io, style, profiles);
  if (rests.length === 0) return io.out("Nothing rests: every credential may be used.\n");
  io.out(io.runnable("\nLeft alone for now; end it with: openclaw models auth clear\n"));
  const rows = rests.map((rest) => restLine(rest, io.now()));
  io.out(formatTable(["Credential", "Agent", "Model", "Until", "Why"], rows, { style, columns: io.columns }));
}

function printProfiles(io: Io, style: ReturnType<typeof createStyle>, profiles: readonly Profile[]): void {
  const rows = profiles.map((profile) => [profile.id, profile.type, profile.masked, profile.from, stateOf(profile, io.now())]);
  io.out(formatTable(["Profile", "Kind", "Secret", "Of", "State"], rows, { style, columns: io.columns, whole: true }));
}

export const status = defineCommand({
  options: { provider: { type: "string", value: "id", help: "of this provider only" }, agent: AGENT_OPTION, json: JSON_OPTION },
  examples: [
    { line: "openclaw models auth status", does: "what is stored, masked, and who rests" },
    { line: "openclaw models auth status --json", does: "for machines" },
  ],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const wanted = values.provider === undefined ? undefined : view.canonical(values.provider);
    const profiles = (await view.auth.list()).filter(({ provider }) => wanted === undefined || view.canonical(provider) === wanted);
    const { rests, asked } = await findRests(io, { agent: values.agent, provider: values.provider });
    if (values.json) printJson(io, { agentId: view.agentId, agentDir: view.agentDir, authStorePath: view.auth.storePath, profiles, rests, asked });
    else print(io, view, profiles, rests);
  },
});
