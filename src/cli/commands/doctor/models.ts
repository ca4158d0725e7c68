import type { ModelFacts } from "../../../doctor/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Io } from "../../io.ts";

/** What the doctor wants to know about models, from the same place as `openclaw models status`. */
export async function modelFacts(io: Io): Promise<ModelFacts> {
  const [{ namedModel, openModels }, { statusOf }] = await Promise.all([import("../models/source.ts"), import("../models/status.ts")]);
  const view = await openModels(io);
  const { choice, config, selection, hasCredential } = view;
  const { resolvedDefault, reason, warnings, auth } = await statusOf(view, io.now());
  return {
    model: resolvedDefault,
    source: reason.source,
    reason: reason.text,
    warnings,
    missing: auth.missingProvidersInUse,
    resting: auth.unusableProfiles.map(({ profileId, kind, reason: why, remainingMs }) => ({
      profileId,
      kind,
      why,
      ...(remainingMs === undefined ? {} : { remainingMs }),
    })),
    logins: auth.oauth.profiles.map(({ profileId, type, status, remainingMs }) => ({
      profileId,
      renews: type === "oauth",
      status,
      ...(remainingMs === undefined ? {} : { remainingMs }),
    })),
    hasCredential,
    problemWith(model) {
      try {
        const ref = namedModel(view, model);
        return choice.allowlistOf(config, choice.standardChoice(selection).ref).allows(ref) ? undefined : `${model} is not among agents.defaults.models`;
      } catch (error) {
        if (error instanceof AppError) return error.message;
        throw error;
      }
    },
  };
}
