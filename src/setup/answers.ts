export const BINDS = ["loopback", "lan", "tailnet", "auto", "custom"] as const;
export const TAILSCALE_MODES = ["off", "serve", "funnel"] as const;
export const NODE_MANAGERS = ["npm", "pnpm", "bun"] as const;
export const RESET_SCOPES = ["config", "config+creds+sessions", "full"] as const;

export type Bind = (typeof BINDS)[number];
export type TailscaleMode = (typeof TAILSCALE_MODES)[number];
export type NodeManager = (typeof NODE_MANAGERS)[number];
/** What is put away: the file; credentials and conversations too; the workspace as well. */
export type ResetScope = (typeof RESET_SCOPES)[number];
export type Flow = "quickstart" | "advanced";

/** Answers known beforehand: flags of a command, parameters of a method. Their questions are not asked. */
export interface SetupAnswers {
  readonly acceptRisk?: boolean | undefined;
  readonly mode?: "local" | "remote" | undefined;
  readonly flow?: Flow | undefined;
  readonly reset?: ResetScope | undefined;
  readonly workspace?: string | undefined;
  readonly authChoice?: string | undefined;
  /** Keys by the name of their flag, without `--` and `-api-key`. */
  readonly keys?: Readonly<Record<string, string>> | undefined;
  readonly cloudflare?: { readonly accountId?: string | undefined; readonly gatewayId?: string | undefined } | undefined;
  readonly token?:
    | {
        readonly value?: string | undefined;
        readonly provider?: string | undefined;
        readonly profileId?: string | undefined;
        readonly expiresIn?: string | undefined;
      }
    | undefined;
  readonly custom?:
    | {
        readonly baseUrl?: string | undefined;
        readonly modelId?: string | undefined;
        readonly apiKey?: string | undefined;
        readonly providerId?: string | undefined;
        readonly compatibility?: "openai" | "anthropic" | undefined;
      }
    | undefined;
  readonly gateway?:
    | {
        readonly port?: number | undefined;
        readonly bind?: Bind | undefined;
        readonly auth?: "token" | "password" | undefined;
        readonly token?: string | undefined;
        readonly password?: string | undefined;
        readonly tailscale?: TailscaleMode | undefined;
        readonly tailscaleResetOnExit?: boolean | undefined;
      }
    | undefined;
  /** Who owns the gateway, as `channel:id`. */
  readonly owner?: string | undefined;
  readonly installDaemon?: boolean | undefined;
  readonly skip?: { readonly channels?: boolean; readonly skills?: boolean; readonly health?: boolean; readonly ui?: boolean } | undefined;
  readonly nodeManager?: NodeManager | undefined;
  readonly remote?: { readonly url?: string | undefined; readonly token?: string | undefined } | undefined;
}
