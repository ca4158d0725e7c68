import { messageOf } from "../base/errors.ts";
import { type Models } from "./create-models.ts";
import type { SelectionSource } from "./selection/select.ts";

/** Which model answers when none was chosen, and why it is that one. */
export interface AnsweringModel {
  /** `provider/model`; null when none can be had, and `why` says what to change. */
  readonly model: string | null;
  /** It is the built-in one, which needs neither key nor network. */
  readonly offline: boolean;
  readonly why: string;
  /** The same for programs that have their own texts; absent when there is no model. */
  readonly reason?: AnsweringReason;
}

export interface AnsweringReason {
  readonly code: SelectionSource;
  /** Where the key comes from: `none` needs none, `missing` has none. Absent for models that are built in or run on this machine. */
  readonly key?: "env" | "profile" | "config" | "ambient" | "none" | "missing";
  /** The variable, or the profile. */
  readonly keyName?: string;
}

type Candidate = Awaited<ReturnType<ReturnType<Models["auth"]>["candidates"]>>[number];

/** What the key is stored under. The key itself is not in it. */
const keyName = ({ id }: Candidate): string => id.replace(/^(?:env|config):/, "");

/** Where the key comes from, for people. */
function keyLocation(candidate: Candidate): string {
  const { source } = candidate;
  const name = keyName(candidate);
  if (source === "env") return `the key is in the variable ${name}`;
  if (source === "profile") return `the key is in the profile ${name}`;
  return source === "config" ? `the key is in the configuration (${name})` : "the provider's own login on this machine is used";
}

/** Looks at what there is now: configuration, keys, models on this machine. Asks no provider for an answer, and never rejects. */
export async function answeringModel(load: () => Promise<Pick<Models, "select" | "auth" | "needsNoKey">>, agentId: string): Promise<AnsweringModel> {
  try {
    const models = await load();
    const { ref, reason: chosen, entry } = await models.select({ agentId });
    // A bare path of the configuration is no sentence.
    const reason = { ...chosen, text: /^[\w.[\]"-]+$/.test(chosen.text) ? `it is set in ${chosen.text}` : chosen.text };
    const model = `${ref.provider}/${ref.id}`;
    const offline = entry.source === "builtin";
    const code = reason.source;
    if (offline || code === "local") return { model, offline, why: reason.text, reason: { code } };
    const first = (await models.auth(agentId).candidates(ref.provider, { modelId: ref.id }))[0];
    if (first) return { model, offline, why: `${reason.text}; ${keyLocation(first)}`, reason: { code, key: first.source, keyName: keyName(first) } };
    const missing = `but there is no key for ${ref.provider}: add one with openclaw models auth add --provider ${ref.provider}`;
    if (models.needsNoKey(ref.provider)) return { model, offline, why: reason.text, reason: { code, key: "none" } };
    return { model, offline, why: `${reason.text}; ${missing}`, reason: { code, key: "missing" } };
  } catch (error) {
    return { model: null, offline: false, why: messageOf(error) };
  }
}
