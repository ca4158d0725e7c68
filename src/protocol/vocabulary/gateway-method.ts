/** Gateway methods and HTTP handlers that plugins add. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestFrame } from "../frames.ts";

/** Codes in use: NOT_LINKED, NOT_PAIRED, AGENT_TIMEOUT, INVALID_REQUEST, UNAVAILABLE. */
export interface GatewayMethodError {
  code: string;
  message: string;
  details?: unknown;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
}

export type RespondFn = (ok: boolean, payload?: unknown, error?: GatewayMethodError, meta?: Record<string, unknown>) => void;

export interface GatewayMethodClient {
  connect: Record<string, unknown>;
  connId?: string | undefined;
  clientIp?: string | undefined;
}

export interface GatewayRequestHandlerOptions {
  req: RequestFrame;
  params: Record<string, unknown>;
  /** Nobody for calls that the gateway makes itself. */
  client: GatewayMethodClient | null;
  isWebchatConnect(client: unknown): boolean;
  respond: RespondFn;
  /** Ports of the running gateway; a part that is not built answers `UNAVAILABLE`. */
  context: Record<string, unknown>;
}

export type GatewayRequestHandler = (options: GatewayRequestHandlerOptions) => Promise<void> | void;

/** Asked in order for requests that nothing else took; `true` means answered. */
export type OpenClawPluginHttpHandler = (req: IncomingMessage, res: ServerResponse) => Promise<boolean> | boolean;
export type OpenClawPluginHttpRouteHandler = (req: IncomingMessage, res: ServerResponse) => unknown;

export interface OpenClawPluginHttpRoute {
  path: string;
  handler: OpenClawPluginHttpRouteHandler;
  /** `gateway`: the gateway's own authentication first. `plugin` (the default): the handler checks whom it answers. */
  auth?: "gateway" | "plugin" | undefined;
  match?: "exact" | "prefix" | undefined;
  replaceExisting?: boolean | undefined;
  handleUpgrade?: ((req: IncomingMessage, socket: unknown, head: Buffer) => unknown) | undefined;
}
