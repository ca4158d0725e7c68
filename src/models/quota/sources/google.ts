import type { Ask, QuotaAccess, QuotaSource } from "../source.ts";
import { fieldsOf, listOf, numberOf, quotaWindow, textOf, usedOfFraction, type Fields, type QuotaWindow } from "../window.ts";

const BASE = "https://cloudcode-pa.googleapis.com/v1internal";
const MOST_MODELS = 10;

const bearer = ({ token }: QuotaAccess): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** Of several models of a family the one with the least left. */
function family(buckets: readonly unknown[], label: string, pattern: RegExp): readonly QuotaWindow[] {
  const left = buckets
    .map(fieldsOf)
    .filter(({ modelId }) => pattern.test(textOf(modelId) ?? ""))
    .flatMap((bucket) => {
      const fraction = numberOf(bucket["remainingFraction"]);
      return fraction === undefined ? [] : [{ fraction, resetTime: bucket["resetTime"] }];
    })
    .sort((a, b) => a.fraction - b.fraction)[0];
  return quotaWindow(label, usedOfFraction(left?.fraction), left?.resetTime);
}

export const geminiCliQuota: QuotaSource = {
  provider: "google-gemini-cli",
  displayName: "Gemini",
  types: ["oauth", "token"],
  async load(access, ask) {
    const body = access.projectId === undefined ? {} : { project: access.projectId };
    const buckets = listOf(fieldsOf(await ask({ url: `${BASE}:retrieveUserQuota`, headers: bearer(access), body }))["buckets"]);
    return { windows: [...family(buckets, "Pro", /pro/i), ...family(buckets, "Flash", /flash/i)] };
  },
};

function creditsOf(account: Fields): readonly QuotaWindow[] {
  const left = numberOf(account["availablePromptCredits"]);
  const monthly = numberOf(fieldsOf(account["planInfo"])["monthlyPromptCredits"]);
  return left === undefined || monthly === undefined || monthly <= 0 ? [] : quotaWindow("Credits", usedOfFraction(left / monthly));
}

async function modelWindows(access: QuotaAccess, project: string | undefined, ask: Ask): Promise<readonly QuotaWindow[]> {
  const answer = fieldsOf(await ask({ url: `${BASE}:fetchAvailableModels`, headers: bearer(access), body: project === undefined ? {} : { project } }));
  return Object.entries(fieldsOf(answer["models"]))
    .flatMap(([id, model]) => {
      const { remainingFraction, resetTime } = fieldsOf(fieldsOf(model)["quotaInfo"]);
      return quotaWindow(id, usedOfFraction(numberOf(remainingFraction)), resetTime);
    })
    .sort((a, b) => b.usedPercent - a.usedPercent || (a.label < b.label ? -1 : 1))
    .slice(0, MOST_MODELS);
}

export const antigravityQuota: QuotaSource = {
  provider: "google-antigravity",
  displayName: "Antigravity",
  types: ["oauth", "token"],
  async load(access, ask) {
    const account = fieldsOf(await ask({ url: `${BASE}:loadCodeAssist`, headers: bearer(access), body: {} }));
    const named = account["cloudaicompanionProject"];
    const project = access.projectId ?? textOf(named) ?? textOf(fieldsOf(named)["id"]);
    const tier = fieldsOf(account["currentTier"]);
    const plan = textOf(tier["name"]) ?? textOf(tier["id"]);
    return { windows: [...creditsOf(account), ...(await modelWindows(access, project, ask))], ...(plan === undefined ? {} : { plan }) };
  },
};
