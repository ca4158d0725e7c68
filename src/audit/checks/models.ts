import { valueAt } from "../../config/index.ts";
import { webFetchTool } from "../../tools/index.ts";
import { channelScopes, isOpen } from "../channels.ts";
import { listed, textsAt, type AuditCheck, type AuditFinding } from "../finding.ts";

/** Models that their makers have replaced. */
const LEGACY = /gpt-3\.5|gpt-4(?![\d.o-])|gpt-4-(?:turbo|0)|claude-(?:1|2|instant|3-)|gemini-(?:pro$|1\.)|text-davinci|llama-?2/i;
/** Small ones of a family: quicker to be talked into something. */
const WEAK = /(?:^|[-/])(?:haiku|mini|nano|flash(?:-lite)?|lite|small|tiny)(?:[-.:]|$)/i;
/** `7b`, `llama3.2:3b`, `qwen2.5-1.5b`. */
const PARAMETERS = /(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)b(?:$|[^a-z0-9])/i;
const SMALL_BILLIONS = 100;

function modelsIn(cfg: unknown): string[] {
  const list = valueAt(cfg, ["agents", "list"]);
  const places = [valueAt(cfg, ["agents", "defaults", "model"]), ...(Array.isArray(list) ? list.map((agent) => valueAt(agent, ["model"])) : [])];
  const named = places.flatMap((model) => (typeof model === "string" ? [model] : [valueAt(model, ["primary"]), ...textsAt(model, "fallbacks")]));
  return [...new Set(named.filter((name): name is string => typeof name === "string" && name.trim() !== ""))];
}

/** How easily the model is talked into something, and what it could do then. */
export const models: AuditCheck = ({ cfg }) => {
  const names = modelsIn(cfg);
  const small = names.filter((name) => Number(PARAMETERS.exec(name)?.[1] ?? Number.POSITIVE_INFINITY) < SMALL_BILLIONS);
  const legacy = names.filter((name) => LEGACY.test(name));
  const weak = names.filter((name) => WEAK.test(name) && !small.includes(name) && !legacy.includes(name));
  const mode = valueAt(cfg, ["agents", "defaults", "sandbox", "mode"]);
  const reachesOut = !textsAt(cfg, "tools", "deny").some((name) => name === "group:web" || name === webFetchTool.name);
  const unsafe = mode !== "all" && (reachesOut || channelScopes(cfg).some(isOpen));
  const found: AuditFinding[] = [];
  if (small.length > 0)
    found.push({
      checkId: "models.small_params",
      severity: unsafe ? "critical" : "info",
      title: "small models follow instructions of others easily",
      detail: `${listed(small)}${unsafe ? ": outside of a sandbox, and with text from the web or from strangers" : " work in a sandbox, without the web"}`,
      remediation: "openclaw config set agents.defaults.sandbox.mode all, and deny group:web; or use a larger model",
    });
  if (legacy.length > 0)
    found.push({
      checkId: "models.legacy",
      severity: "warn",
      title: "models that have been replaced",
      detail: `${listed(legacy)} resist injected instructions less well`,
      remediation: "openclaw models set <a current model>",
    });
  if (weak.length > 0)
    found.push({
      checkId: "models.weak_tier",
      severity: "warn",
      title: "models of a small tier",
      detail: `${listed(weak)} resist injected instructions less well than larger ones`,
      remediation: "use a larger model for agents that read what others wrote",
    });
  return found;
};
