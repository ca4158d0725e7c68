import type { CredentialType } from "../auth/profiles.ts";
import type { JsonAnswer, JsonRequest } from "../transport/index.ts";
import type { QuotaFacts } from "./window.ts";

/** The credential for querying an allowance. */
export interface QuotaAccess {
  readonly token: string;
  readonly accountId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** Queries one endpoint; a refusal is thrown as `QuotaRefused`. */
export type Ask = (request: Pick<JsonRequest, "url" | "method" | "headers" | "body">) => Promise<JsonAnswer["value"]>;

/** How one provider's allowances are queried. */
export interface QuotaSource {
  readonly provider: string;
  readonly displayName: string;
  /** Credential types that the endpoint accepts; others are not sent there. */
  readonly types: readonly CredentialType[];
  /** Variables that take precedence over the provider's own. */
  readonly env?: readonly string[];
  load(access: QuotaAccess, ask: Ask): Promise<QuotaFacts>;
}
