import { AppError } from "../../../base/errors.ts";
import { nearest } from "../../../base/text.ts";
import { loadChoice } from "../../../models/index.ts";
import { AUTH_CHOICES, choiceOfFlag, findChoice, type AuthChoice } from "../../auth-choices.ts";
import type { Asker } from "../../asker.ts";
import type { Setup } from "../../context.ts";
import type { SetupAnswers } from "../../answers.ts";
import { providerLabel } from "../../providers.ts";

const SKIP = findChoice("skip")!;

/** What the flags mean: the choice that is named, else the one that a single key stands for. */
export function choiceFromFlags({ authChoice, keys = {}, token, custom }: SetupAnswers): AuthChoice | undefined {
  if (authChoice !== undefined) {
    const found = findChoice(authChoice.trim());
    if (found) return found;
    const names = AUTH_CHOICES.map(({ id }) => id);
    const close = nearest(authChoice, names);
    throw new AppError(
      "INVALID_INPUT",
      `--auth-choice ${JSON.stringify(authChoice)} is unknown; ${close ? `did you mean ${close}?` : `one of ${names.join(", ")}`}`,
    );
  }
  const flags = Object.keys(keys);
  const meant = [
    ...flags.map((flag) => `--${flag}-api-key`),
    ...(token?.value === undefined ? [] : ["--token"]),
    ...(custom?.baseUrl === undefined ? [] : ["--custom-base-url"]),
  ];
  if (meant.length > 1) throw new AppError("INVALID_INPUT", `${meant.join(" and ")} are both set; choose one with --auth-choice`);
  if (token?.value !== undefined) return findChoice("token");
  if (custom?.baseUrl !== undefined) return findChoice("custom-api-key");
  return flags[0] === undefined ? undefined : choiceOfFlag(flags[0]);
}

/** The first provider that has a credential already, and where that comes from. */
export async function foundCredential({ host }: Setup): Promise<{ readonly provider: string; readonly from: string } | undefined> {
  const [{ PROVIDERS }, auth] = await Promise.all([loadChoice(), host.auth()]);
  for (const { id, picksDefault } of PROVIDERS) {
    const candidate = picksDefault ? (await auth.candidates(id))[0] : undefined;
    if (candidate) return { provider: id, from: credentialSource(candidate.id) };
  }
  return undefined;
}

/** `env:OPENAI_API_KEY` → `OPENAI_API_KEY`. */
export const credentialSource = (candidateId: string): string => candidateId.replace(/^(?:env|config):/, "");

/** Which of all the ways it shall be. Logins are offered where there is a way to make them. */
export async function askChoice(setup: Setup, ask: Asker): Promise<AuthChoice> {
  const found = await foundCredential(setup);
  const skip = found ? { ...SKIP, label: "Use the existing key", hint: `${providerLabel(found.provider)} (${found.from})` } : SKIP;
  const usable = AUTH_CHOICES.filter(
    (choice) => choice.id !== "skip" && choice.id !== "setup-token" && (choice.kind !== "login" || setup.host.logins !== undefined),
  );
  const options = [skip, ...usable].map(({ id, label, hint }) => ({ value: id, label, hint }));
  return findChoice(await ask.select({ message: "Which model do you want to use?", options, initialValue: options[0]?.value })) ?? skip;
}
