import type { CredentialType } from "../auth/profiles.ts";
import type { JsonAnswer, JsonRequest } from "../transport/index.ts";
import type { QuotaFacts } from "./window.ts";

/** The credential an allowance is asked for with. */
export interface QuotaAccess {
  readonly token: string;
  readonly accountId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** Asks one endpoint; a refusal is thrown as `QuotaRefused` says it. */
export type Ask = (request: Pick<JsonRequest, "url" | "method" | "headers" | "body">) => Promise<JsonAnswer["value"]>;

/** Where one provider tells about allowances. */
export interface QuotaSource {
  readonly provider: string;
  readonly displayName: string;
  /** Credentials that open the endpoint; others are not sent there. */
  readonly types: readonly CredentialType[];
  /** Variables that come before the provider's own. */
  readonly env?: readonly string[];
  load(access: QuotaAccess, ask: Ask): Promise<QuotaFacts>;
}
