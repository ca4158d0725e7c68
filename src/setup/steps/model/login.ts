import { AppError, messageOf } from "../../../base/errors.ts";
import { isLeft, left } from "../../asker.ts";
import type { LoginChoice } from "../../auth-choices.ts";
import type { Setup } from "../../context.ts";
import type { LoginResult } from "../../place.ts";
import { providerLabel } from "../../providers.ts";
import { credentialSource } from "./choice.ts";

export interface Login {
  /** What a plugin wants to answer; undefined: the provider's usual model. */
  readonly model?: string | undefined;
}

/** Ctrl-C at the place where the browser's address is pasted. */
const isAborted = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

/** Logs in. Undefined: it did not work, the person knows why, and may choose something else. */
async function tryLogin({ ask, place }: Setup, provider: string): Promise<LoginResult | undefined> {
  try {
    return await place.logins!.login(provider);
  } catch (error) {
    if (isLeft(error) || isAborted(error) || place.signal.aborted) throw left();
    await ask!.note(place.redactor.text(messageOf(error)), `${providerLabel(provider)}: not logged in`);
    return undefined;
  }
}

/** A login that is there, or one that is made now. Nothing of it is stored before the draft is. */
export async function takeLogin(setup: Setup, { id, provider }: LoginChoice): Promise<Login | undefined> {
  const { place, draft, ask, tell } = setup;
  const [known] = await (await place.auth()).candidates(provider);
  const question = `There is a credential for ${providerLabel(provider)} (${known ? credentialSource(known.id) : ""}). Use it?`;
  if (known && (!ask || !place.logins || (await ask.confirm({ message: question, initialValue: true })))) return {};
  if (!ask || !place.logins) {
    const advice = `${id} is a login in a browser and there is none yet; make it with: openclaw models auth login --provider ${provider}`;
    if (!ask) throw new AppError("INVALID_INPUT", advice);
    await ask.note(advice, providerLabel(provider));
    return undefined;
  }
  const made = await tryLogin(setup, provider);
  if (!made) return undefined;
  for (const { profileId, credential } of made.profiles) draft.credential(profileId, credential);
  if (made.configPatch) draft.merge(made.configPatch);
  for (const note of made.notes ?? []) await tell(place.redactor.text(note));
  return { model: made.defaultModel };
}
