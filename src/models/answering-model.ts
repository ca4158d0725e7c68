import { messageOf } from "../base/errors.ts";
import { type Models } from "./create-models.ts";

/** Which model answers when none was chosen, and why it is that one. */
export interface AnsweringModel {
  /** `provider/model`; null when none can be had, and `why` says what to change. */
  readonly model: string | null;
  /** It is the built-in one, which needs neither key nor network. */
  readonly offline: boolean;
  readonly why: string;
}

type Candidate = Awaited<ReturnType<ReturnType<Models["auth"]>["candidates"]>>[number];

/** Where the key comes from, for people. The key itself is not in it. */
function keyLocation({ source, id }: Candidate): string {
  const name = id.replace(/^(?:env|config):/, "");
  if (source === "env") return `the key is in the variable ${name}`;
  if (source === "profile") return `the key is in the profile ${name}`;
  return source === "config" ? `the key is in the configuration (${name})` : "the provider's own login on this machine is used";
}

/** Looks at what there is now: configuration, keys, models on this machine. Asks no provider for an answer, and never rejects. */
export async function answeringModel(load: () => Promise<Pick<Models, "select" | "auth">>, agentId: string): Promise<AnsweringModel> {
  try {
    const models = await load();
    const { ref, reason: chosen, entry } = await models.select({ agentId });
    // A bare path of the configuration is no sentence.
    const reason = { ...chosen, text: /^[\w.[\]"-]+$/.test(chosen.text) ? `it is set in ${chosen.text}` : chosen.text };
    const model = `${ref.provider}/${ref.id}`;
    const offline = entry.source === "builtin";
    if (offline || reason.source === "local") return { model, offline, why: reason.text };
    const first = (await models.auth(agentId).candidates(ref.provider, { modelId: ref.id }))[0];
    if (first) return { model, offline, why: `${reason.text}; ${keyLocation(first)}` };
    const { needsNoKey } = await import("./choice.ts");
    const missing = `but there is no key for ${ref.provider}: add one with openclaw models auth add --provider ${ref.provider}`;
    return { model, offline, why: needsNoKey(ref.provider) ? reason.text : `${reason.text}; ${missing}` };
  } catch (error) {
    return { model: null, offline: false, why: messageOf(error) };
  }
}
