import type { OpenClawConfig } from "../../config/index.ts";
import { parseJsonObject } from "./body.ts";
import { sendError, sendJson } from "./reply.ts";
import type { Exchange, Route } from "./route.ts";

const MAX_BODY_BYTES = 2_097_152;

/** Tools that reach further than their caller: refused over HTTP unless `gateway.tools.allow` names them. */
const DENIED_BY_DEFAULT: readonly string[] = ["sessions_spawn", "sessions_send", "gateway", "whatsapp_login"];
/** Tools that run programs or touch files: never over HTTP, whatever the configuration allows. */
const NEVER_OVER_HTTP: readonly string[] = ["exec", "process", "read", "write", "edit", "apply_patch"];

const ALIASES: Readonly<Record<string, string>> = { bash: "exec", shell: "exec", "apply-patch": "apply_patch" };
const TOOL_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** The one spelling of a tool's name, for the check and the call alike. */
export function canonicalTool(name: string): string | undefined {
  const lower = name.trim().toLowerCase();
  return TOOL_NAME.test(lower) ? (ALIASES[lower] ?? lower) : undefined;
}

/** Whether a tool may be called over HTTP at all. `gateway.tools.deny` wins over `gateway.tools.allow`. */
export function isToolAllowed(tool: string, config: OpenClawConfig): boolean {
  const named = (list: readonly string[] | undefined): boolean => (list ?? []).some((entry) => canonicalTool(entry) === tool);
  if (NEVER_OVER_HTTP.includes(tool) || named(config.gateway?.tools?.deny)) return false;
  return !DENIED_BY_DEFAULT.includes(tool) || named(config.gateway?.tools?.allow);
}

interface Invocation {
  readonly tool: string;
  readonly action?: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sessionKey?: string;
}

function parseInvocation(value: Readonly<Record<string, unknown>>): Invocation | string {
  const { tool, action, args, sessionKey } = value;
  if (typeof tool !== "string" || tool.trim() === "") return "tools.invoke requires body.tool";
  if (action !== undefined && typeof action !== "string") return "body.action must be a string";
  if (args !== undefined && (typeof args !== "object" || args === null || Array.isArray(args))) return "body.args must be an object";
  if (sessionKey !== undefined && typeof sessionKey !== "string") return "body.sessionKey must be a string";
  return {
    tool,
    args: (args ?? {}) as Readonly<Record<string, unknown>>,
    ...(action === undefined ? {} : { action }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
  };
}

function invoke(config: OpenClawConfig, { response, body }: Exchange): void {
  const parsed = parseJsonObject(body);
  if (!parsed.ok) return sendError(response, { status: 400, message: parsed.message, type: "invalid_request_error" });
  const call = parseInvocation(parsed.value);
  if (typeof call === "string") return sendError(response, { status: 400, message: call, type: "invalid_request_error" });
  const tool = canonicalTool(call.tool);
  if (tool === undefined || !isToolAllowed(tool, config))
    return sendJson(response, 404, { ok: false, error: { type: "not_found", message: `Tool not available: ${call.tool.slice(0, 80)}` } });
  const message = `UNAVAILABLE: ${tool} was not run; calling tools needs the tools room, which this version does not have`;
  sendJson(response, 503, { ok: false, error: { type: "unavailable", code: "UNAVAILABLE", message } });
}

export function toolRoutes(config: { readonly current: OpenClawConfig }): readonly Route[] {
  return [
    {
      methods: ["POST"],
      path: "/tools/invoke",
      match: "exact",
      auth: "bearer",
      maxBodyBytes: MAX_BODY_BYTES,
      handle: (exchange) => invoke(config.current, exchange),
    },
  ];
}
