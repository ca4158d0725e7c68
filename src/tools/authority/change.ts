/** Decides about a change of a session's choice, and what is stored of it. */
import { AppError } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { GRANTS, sessionChoice, type ChoiceField, type ExecGrant, type Grantor } from "./choice.ts";
import { judgeChange, type Beyond, type ChoiceChange, type ChoiceFacts } from "./session-exec.ts";
import { missingFor, type Asker, type Missing } from "./table.ts";

export interface AskedChange extends ChoiceFacts {
  readonly entry: SessionEntry | undefined;
  readonly change: ChoiceChange;
  readonly asker: Asker;
  /** Whom a grant names. */
  readonly grantor: Grantor;
  readonly holds: ExecGrant["holds"];
}

export type ChangeVerdict =
  /** Fields of the entry to write; null takes one away. */
  | {
      readonly kind: "allowed";
      readonly patch: Readonly<Record<string, unknown>>;
      readonly widens: boolean;
      /** It is freer than the configuration. */ readonly granted: boolean;
    }
  | { readonly kind: "missing"; readonly missing: Missing }
  | { readonly kind: "beyond"; readonly text: string };

const KEYS: Readonly<Record<ChoiceField, string>> = {
  execHost: "tools.exec.host",
  execSecurity: "tools.exec.security",
  execAsk: "tools.exec.ask",
  execNode: "tools.exec.node",
  elevatedLevel: "agents.defaults.elevatedDefault",
};

function beyondText({ field, value, sandbox }: Beyond): string {
  if (sandbox) {
    return `this session runs in a sandbox, and only the configuration lets commands leave it (tools.exec.host, tools.elevated.allowFrom)`;
  }
  return `${KEYS[field]} is set in the configuration, and a session cannot exceed it. To change it, run: openclaw config set ${KEYS[field]} ${value}`;
}

/** Whether a session's choice may be changed so, and what is then written. */
export function changeChoice({ entry, change, asker, grantor, holds, ...facts }: AskedChange): ChangeVerdict {
  const current = sessionChoice(entry);
  const { widens, beyond, needsGrant } = judgeChange(change, current, facts);
  const missing = widens || beyond.length > 0 ? missingFor("widen", asker) : undefined;
  if (missing !== undefined) return { kind: "missing", missing };
  if (beyond.length > 0) return { kind: "beyond", text: beyond.map(beyondText).join("; ") };
  const granted: Record<string, ExecGrant> = { ...current?.granted };
  for (const name of Object.keys(change)) delete granted[name];
  for (const field of needsGrant) granted[field] = { ...grantor, holds, value: change[field]! };
  const before = entry?.[GRANTS] !== undefined;
  const grants = Object.keys(granted).length > 0 ? { [GRANTS]: granted } : before ? { [GRANTS]: null } : {};
  return { kind: "allowed", patch: { ...change, ...grants }, widens, granted: needsGrant.length > 0 };
}

/** The same for a client's method, which fails with an error. */
export function changedByClient(asked: Omit<AskedChange, "grantor" | "holds">): Readonly<Record<string, unknown>> {
  const verdict = changeChoice({ ...asked, grantor: { by: "client" }, holds: "session" });
  if (verdict.kind === "allowed") return verdict.patch;
  if (verdict.kind === "missing") throw new AppError("PERMISSION_DENIED", `missing scope: ${verdict.missing}`);
  throw new AppError("INVALID_INPUT", `nothing was changed: ${verdict.text}`);
}
