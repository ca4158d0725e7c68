import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import type { AllowedCommand, Store } from "../../../store/index.ts";
import type { ExecPlan } from "../plan.ts";
import { describeRule, rememberable, type CommandRule, type Folders, type ProgramRule } from "./rule.ts";

/** A rule as it is in the store. */
export interface StoredRule extends ProgramRule {
  readonly id: string;
  readonly agentId: string;
  readonly lastUsedAt: number | null;
}

/** A rule for people. */
export interface ListedRule {
  readonly id: string;
  readonly agentId: string;
  readonly program: string;
  /** What it covers, in words. */
  readonly covers: string;
  /** The command that was approved. */
  readonly command: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** What "allow always" stored: programs with their argument shapes, each for one agent. */
export interface RememberedCommands {
  rules(agentId: string): Promise<readonly StoredRule[]>;
  /** Stores what can be stored of an approved plan. */
  remember(agentId: string, plan: ExecPlan, folders: Folders): Promise<void>;
  used(rules: readonly StoredRule[]): Promise<void>;
  list(agentId?: string): Promise<readonly ListedRule[]>;
  /** `NOT_FOUND` when there is none, or the beginning of an id means several. */
  forget(id: string): Promise<ListedRule>;
  /** Takes back what `forget` removed. `NOT_FOUND` when this process removed no such rule lately. */
  restore(id: string): Promise<ListedRule>;
}

export interface RememberedDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
}

const COMMAND_CHARS = 2000;
/** Removed rules that can be brought back. */
const MOST_REMOVED = 100;
/** Uses are noted this often: a write for each command would cost more than it tells. */
const NOTED_EVERY_MS = 60_000;

export function createRemembered({ store, clock, ids }: RememberedDeps): RememberedCommands {
  const rows = (agentId?: string): Promise<readonly AllowedCommand[]> => store.read("commands.list", { agentId });
  const removed = new Map<string, AllowedCommand>();
  const list = async (agentId?: string): Promise<readonly ListedRule[]> => (await rows(agentId)).map(listed);
  return {
    async rules(agentId) {
      return (await rows(agentId)).map(({ id, program, rule, lastUsedAt }) => ({ id, agentId, program, rule: rule as CommandRule, lastUsedAt }));
    },
    async remember(agentId, plan, folders) {
      for (const one of rememberable(plan, folders)) {
        if (one.kind === "never") continue;
        const { program, rule } = one;
        await store.write("commands.allow", { id: ids.uuid(), agentId, program, rule, command: plan.command.slice(0, COMMAND_CHARS) });
      }
    },
    async used(rules) {
      const due = rules.filter(({ lastUsedAt }) => lastUsedAt === null || clock.now() - lastUsedAt >= NOTED_EVERY_MS);
      if (due.length > 0) await store.write("commands.used", { ids: due.map(({ id }) => id) });
    },
    list,
    async forget(written) {
      const all = await rows();
      const meant = all.filter(({ id }) => id === written || (written.length >= 4 && id.startsWith(written)));
      const [one] = meant;
      if (!one || meant.length > 1) {
        const why = meant.length > 1 ? `${meant.length} ids begin with it; enter more characters` : "there is none";
        throw new AppError("NOT_FOUND", `no remembered command has the id ${JSON.stringify(written)}: ${why}; see: openclaw approvals remembered`);
      }
      await store.write("commands.remove", { id: one.id });
      removed.set(one.id, one);
      for (const id of [...removed.keys()].slice(0, -MOST_REMOVED)) removed.delete(id);
      return listed(one);
    },
    async restore(id) {
      const one = removed.get(id);
      if (!one) throw new AppError("NOT_FOUND", "this command can no longer be restored; allow it again when it next needs approval", { details: { id } });
      const { agentId, program, rule, command } = one;
      await store.write("commands.allow", { id, agentId, program, rule, command });
      removed.delete(id);
      return listed((await rows(agentId)).find((row) => row.id === id) ?? one);
    },
  };
}

function listed({ id, agentId, program, rule, command, createdAt, lastUsedAt }: AllowedCommand): ListedRule {
  return { id, agentId, program, covers: describeRule({ program, rule: rule as CommandRule }), command, createdAt, lastUsedAt };
}
