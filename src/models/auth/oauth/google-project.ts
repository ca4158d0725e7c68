import { AppError, messageOf } from "../../../base/errors.ts";
import { isObject, type Env } from "../../../config/index.ts";
import { askJson } from "../../transport/index.ts";
import type { OAuthDeps } from "./token-request.ts";

export interface GoogleProjectDeps extends OAuthDeps {
  readonly env: Env;
  /** Waits; tests wait less. */
  readonly pause: (ms: number) => Promise<void>;
}

/** The API requires a client name from a list that does not include this program: these values mean "none of these". */
const METADATA = { ideType: "IDE_UNSPECIFIED", platform: "PLATFORM_UNSPECIFIED", pluginType: "PLUGIN_UNSPECIFIED" } as const;
const FREE_TIER = "free-tier";
const TIMEOUT_MS = 15_000;
const POLL_MS = 5000;
const POLLS = 24;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const projectIn = (fields: Fields): string | undefined =>
  textOf(fields["cloudaicompanionProject"]) ?? textOf(fieldsOf(fields["cloudaicompanionProject"])["id"]);

/** Variables with the user's own project, in order. */
const VARIABLES = ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID"];

/** The project of a Google login: the user's own, the account's, or one that is set up now. */
export async function googleProject(access: string, urls: readonly string[], deps: GoogleProjectDeps): Promise<string> {
  const own = VARIABLES.map((name) => deps.env[name]?.trim()).find(Boolean);
  if (own !== undefined) return own;
  const failures: string[] = [];
  for (const base of urls) {
    try {
      return await projectAt(base, access, deps);
    } catch (error) {
      failures.push(`${new URL(base).host}: ${deps.redactor.text(messageOf(error))}`);
    }
  }
  throw new AppError("UNAVAILABLE", `no project was found for this login (${failures.join("; ")}); set ${VARIABLES[0]} to one of yours and log in again`);
}

async function projectAt(base: string, access: string, deps: GoogleProjectDeps): Promise<string> {
  const ask = async (path: string, body?: unknown): Promise<Fields> => {
    const { clock, version, signal, fetch } = deps;
    const headers = { authorization: `Bearer ${access}` };
    const request = {
      url: `${base}/v1internal${path}`,
      headers,
      version,
      clock,
      signal,
      timeoutMs: TIMEOUT_MS,
      fetch: fetch as Parameters<typeof askJson>[0]["fetch"],
    };
    const { status, value } = await askJson(body === undefined ? request : { ...request, body });
    const fields = fieldsOf(value);
    const reason = textOf(fieldsOf(fields["error"])["message"]);
    if (status >= 400) throw new AppError("UNAVAILABLE", `it responded with status ${status}${reason === undefined ? "" : ` ${reason.slice(0, 200)}`}`);
    return fields;
  };
  const account = await ask(":loadCodeAssist", { metadata: METADATA });
  const found = projectIn(account);
  if (found !== undefined) return found;
  if (isObject(account["currentTier"])) throw new AppError("UNAVAILABLE", "the account has its own project, but did not name it");
  let operation = await ask(":onboardUser", { tierId: tierOf(account), metadata: METADATA });
  for (let polls = 0; operation["done"] !== true; polls += 1) {
    const name = textOf(operation["name"]);
    if (name === undefined || polls >= POLLS) throw new AppError("TIMEOUT", "the account was not set up in time; try again");
    await deps.pause(POLL_MS);
    if (deps.signal?.aborted) throw new AppError("CANCELLED", "the login was cancelled");
    operation = await ask(`/${name}`);
  }
  const made = projectIn(fieldsOf(operation["response"]));
  if (made === undefined) throw new AppError("UNAVAILABLE", "the account was set up without a project");
  return made;
}

/** The tier that is offered first. */
function tierOf(account: Fields): string {
  const tiers = Array.isArray(account["allowedTiers"]) ? account["allowedTiers"].map(fieldsOf) : [];
  return textOf((tiers.find(({ isDefault }) => isDefault === true) ?? tiers[0])?.["id"]) ?? FREE_TIER;
}
